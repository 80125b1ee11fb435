// Arrays without NumPy: DLPack and the buffer protocol over memory that the core owns.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "fuelrail/base/error.h"

namespace fuelrail::python {
namespace {

using Exported = nb::ndarray<nb::array_api>;

nb::dlpack::dtype dlpack_type(DType dtype) {
  switch (dtype) {
    case DType::kUint8:
      return nb::dtype<uint8_t>();
    case DType::kInt64:
      return nb::dtype<int64_t>();
    case DType::kUint64:
      return nb::dtype<uint64_t>();
    case DType::kFloat16:
      return {static_cast<uint8_t>(nb::dlpack::dtype_code::Float), 16, 1};
    case DType::kFloat32:
      return nb::dtype<float>();
    case DType::kBool:
      return nb::dtype<bool>();
    case DType::kBfloat16:
      return {static_cast<uint8_t>(nb::dlpack::dtype_code::Bfloat), 16, 1};
  }
  return {};
}

// nanobind's own exporter of the array; it keeps `self`, and so the memory, alive.
nb::object exporter(nb::pointer_and_handle<Array> self) {
  const Array& array = *self.p;
  const std::vector<size_t> shape(array.shape.begin(), array.shape.end());
  return nb::cast(Exported(array.data, shape.size(), shape.data(), self.h, nullptr,
                           dlpack_type(array.dtype), nb::device::cpu::value));
}

nb::object dlpack(nb::pointer_and_handle<Array> self, const nb::kwargs& options) {
  return exporter(self).attr("__dlpack__")(**options);
}

constexpr const char* kNoBfloat16 = "the buffer protocol has no bfloat16";

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  if (nb::inst_ptr<Array>(self)->dtype == DType::kBfloat16) {
    PyErr_SetString(PyExc_BufferError, kNoBfloat16);
    return -1;
  }
  try {
    const nb::object source = exporter({nb::inst_ptr<Array>(self), self});
    return PyObject_GetBuffer(source.ptr(), view, flags);  // released by the exporter, its owner
  } catch (nb::python_error& error) {
    error.restore();
    return -1;
  }
}

PyType_Slot kSlots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)}, {0, nullptr}};

nb::tuple shape_of(const Array& array) { return nb::tuple(nb::cast(array.shape)); }

size_t elements(const Array& array) {
  size_t count = 1;
  for (const int64_t extent : array.shape) count *= static_cast<size_t>(extent);
  return count;
}

size_t length(const Array& array) {
  if (array.shape.empty()) throw nb::type_error("len() of an array without dimensions");
  return static_cast<size_t>(array.shape.front());
}

// NumPy asks for the buffer first, drops whatever error that is, and comes here.
nb::object numpy_array(nb::handle self, nb::handle dtype, nb::handle copy) {
  if (nb::inst_ptr<Array>(self)->dtype == DType::kBfloat16) {
    throw UnsupportedError(
        "NumPy has no bfloat16",
        {.remedy = "Use torch.from_dlpack(array), or ask for float32 or float16"});
  }
  const nb::object view = nb::steal(PyMemoryView_FromObject(self.ptr()));
  if (!view.is_valid()) throw nb::python_error();
  const nb::module_ numpy = nb::module_::import_("numpy");
  if (copy.is_none()) return numpy.attr("asarray")(view, nb::arg("dtype") = dtype);
  return numpy.attr("array")(view, nb::arg("dtype") = dtype, nb::arg("copy") = copy);
}

nb::object to_numpy(nb::handle self) { return nb::module_::import_("numpy").attr("asarray")(self); }

nb::str describe(const Array& array) {
  return nb::str("Array(shape={}, dtype='{}')").format(shape_of(array), name_of(array.dtype));
}

}  // namespace

void bind_arrays(nb::module_& module) {
  nb::class_<Array>(
      module, "Array", nb::type_slots(kSlots),
      "A dense, row-major array in memory of the core.\n\n"
      "Consumers share the memory and keep it alive: `numpy.asarray(array)`,\n"
      "`torch.from_dlpack(array)` and anything else that speaks DLPack or the buffer\n"
      "protocol. It may be written to. NumPy and the buffer protocol have no bfloat16:\n"
      "they raise UnsupportedError and BufferError, DLPack passes it on.")
      .def_prop_ro("shape", shape_of, nb::sig("def shape(self) -> tuple[int, ...]"),
                   "Extent of each dimension.")
      .def_prop_ro(
          "dtype", [](const Array& array) { return name_of(array.dtype); },
          "Element type by NumPy's name, such as 'float32'.")
      .def_prop_ro(
          "ndim", [](const Array& array) { return array.shape.size(); }, "Number of dimensions.")
      .def_prop_ro(
          "nbytes", [](const Array& array) { return elements(array) * size_in_bytes(array.dtype); },
          "Size of the elements in bytes.")
      .def("__len__", length)
      .def("__repr__", describe)
      .def("numpy", to_numpy, nb::sig("def numpy(self) -> typing.Any"),
           "The same memory as a numpy.ndarray.")
      .def("__array__", numpy_array, nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none(),
           nb::sig("def __array__(self, dtype: typing.Any = None, copy: bool | None = None) "
                   "-> typing.Any"))
      .def("__dlpack__", dlpack,
           nb::sig("def __dlpack__(self, *, stream: int | None = None, "
                   "max_version: tuple[int, int] | None = None, "
                   "dl_device: tuple[int, int] | None = None, copy: bool | None = None) "
                   "-> typing.Any"))
      .def(
          "__dlpack_device__",
          [](const Array&) { return nb::make_tuple(nb::device::cpu::value, 0); },
          nb::sig("def __dlpack_device__(self) -> tuple[int, int]"));
}

}  // namespace fuelrail::python
