#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <exception>
#include <utility>

#include "bindings.h"
#include "fuelrail/base/cpu.h"
#include "fuelrail/base/error.h"

namespace fuelrail::python {

// Calls `take`, which may take the GIL. On a thread that pthread_exit is ending, this function
// never returns, because leaving the handler would end the process. Requires: `take` has no local
// objects with destructors, because such a thread does not hold the GIL.
template <typename Take>
static auto take_or_sleep(Take take) noexcept {
  try {
    return take();
  } catch (...) {
    for (;;) pause();
  }
}

GilReleased::GilReleased() : state_(PyEval_SaveThread()) {}
GilReleased::~GilReleased() {
  take_or_sleep([this] { PyEval_RestoreThread(state_); });
}

nb::object call_python(nb::handle function, const nb::tuple& arguments, nb::handle named) {
  PyObject* const result = take_or_sleep([&function, &arguments, &named] {
    return PyObject_Call(function.ptr(), arguments.ptr(), named.ptr());
  });
  if (result == nullptr) throw nb::python_error();
  return nb::steal(result);
}

nb::object import_module(const char* name) {
  PyObject* const module = take_or_sleep([name] { return PyImport_ImportModule(name); });
  if (module == nullptr) throw nb::python_error();
  return nb::steal(module);
}

// An abandoned thread may outlive the interpreter. If Python does not know the thread, it also
// sleeps.
static PyGILState_STATE take_gil() {
  while (!Py_IsInitialized() && PyGILState_GetThisThreadState() == nullptr) ::pause();
  return PyGILState_Ensure();
}

GilTaken::GilTaken() : state_(take_or_sleep(take_gil)) {}
GilTaken::~GilTaken() { PyGILState_Release(state_); }

// Python deletes the state of a thread with the last of its PyGILState_Ensure.
ThreadState::ThreadState() {
  const GilTaken taken;
  state_ = PyGILState_Ensure();
}
ThreadState::~ThreadState() {
  const GilTaken taken;
  PyGILState_Release(state_);
}

// Whether this is the process's main thread, which is also CPython's.
bool PythonTurns::hears_signals() { return ::gettid() == ::getpid(); }

bool PythonTurns::take_turn(const std::function<void()>& function) const {
  const GilTaken taken;
  bool in_handler = true;
  try {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    in_handler = false;
    if (function) function();
    return true;
  } catch (const nb::python_error& error) {
    *raised_ = std::current_exception();
    *interrupted_ = in_handler || !error.matches(PyExc_Exception);
  } catch (...) {
    *raised_ = std::current_exception();
  }
  return false;
}

void PythonTurns::run_work(std::function<void()> work) const {
  std::exception_ptr failure;
  try {
    const GilReleased released;
    if (hears_signals()) {
      Errand(errand_).run(std::move(work), [this] { return !*interrupted_ && take_turn({}); });
    } else {
      work();
    }
  } catch (...) {
    failure = std::current_exception();
  }
  if (const auto raised = std::exchange(*raised_, nullptr)) std::rethrow_exception(raised);
  if (failure) std::rethrow_exception(failure);
}

std::shared_ptr<nb::object> shared_object(nb::object object) {
  return {new nb::object(std::move(object)), [](nb::object* held) {
            const GilTaken taken;
            delete held;
          }};
}

nb::str fs_text(const std::string& name) {
  PyObject* text =
      PyUnicode_DecodeFSDefaultAndSize(name.data(), static_cast<Py_ssize_t>(name.size()));
  if (text == nullptr) throw nb::python_error();
  return nb::steal<nb::str>(text);
}

nb::str printable(const std::string& text) {
  return nb::steal<nb::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
}

std::string fs_name(nb::handle text) {
  const nb::object name = nb::steal(PyUnicode_EncodeFSDefault(text.ptr()));
  if (!name.is_valid()) throw nb::python_error();
  const nb::bytes bytes = nb::borrow<nb::bytes>(name);
  return {bytes.c_str(), bytes.size()};
}

Strings fs_texts(const std::vector<std::string>& names) {
  Strings texts;
  for (const std::string& name : names) texts.append(fs_text(name));
  return texts;
}

std::vector<std::string> fs_names(const nb::list& texts) {
  std::vector<std::string> names;
  for (nb::handle text : texts) names.push_back(fs_name(text));
  return names;
}

void bind_base(nb::module_& module) {
  module.def("suggest", &suggest, nb::arg("given"), nb::arg("known"),
             "Returns a hint for an unknown name: the most similar known name, or all known names "
             "if none is similar.");
  module.def(
      "process_ends", &process_ends,
      "Called when the process exits. After this call, all loaders together wait at most one "
      "timeout for storage that does not respond, instead of one timeout each.");
  module.def("default_threads", &default_threads,
             "Returns the default number of a loader's threads.");
}

}  // namespace fuelrail::python
