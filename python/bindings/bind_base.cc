#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "fuelrail/base/cpu.h"
#include "fuelrail/base/error.h"

namespace fuelrail::python {

nb::str fs_text(const std::string& name) {
  PyObject* text =
      PyUnicode_DecodeFSDefaultAndSize(name.data(), static_cast<Py_ssize_t>(name.size()));
  if (text == nullptr) throw nb::python_error();
  return nb::steal<nb::str>(text);
}

std::string fs_name(nb::handle text) {
  const nb::object name = nb::steal(PyUnicode_EncodeFSDefault(text.ptr()));
  if (!name.is_valid()) throw nb::python_error();
  const nb::bytes bytes = nb::borrow<nb::bytes>(name);
  return {bytes.c_str(), bytes.size()};
}

void bind_base(nb::module_& module) {
  module.def("suggest", &suggest, nb::arg("given"), nb::arg("known"),
             "The nearest of the known names, as a sentence.");
  module.def("default_threads", &default_threads, "Threads that a loader starts by default.");
  module.def("describe_cpu", &describe_cpu, "The processor and its widest vector instructions.");
}

}  // namespace fuelrail::python
