// Arrays without NumPy: memory of the core, exported by DLPack and the buffer protocol.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <optional>

#include "bindings.h"
#include "fuelrail/base/error.h"
#include "samples.h"

namespace fuelrail::python {
nb::dlpack::dtype dlpack_type(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return nb::dtype<bool>();
    case DType::kUint8:
      return nb::dtype<uint8_t>();
    case DType::kInt8:
      return nb::dtype<int8_t>();
    case DType::kUint16:
      return nb::dtype<uint16_t>();
    case DType::kInt16:
      return nb::dtype<int16_t>();
    case DType::kUint32:
      return nb::dtype<uint32_t>();
    case DType::kInt32:
      return nb::dtype<int32_t>();
    case DType::kUint64:
      return nb::dtype<uint64_t>();
    case DType::kInt64:
      return nb::dtype<int64_t>();
    case DType::kFloat16:
      return {static_cast<uint8_t>(nb::dlpack::dtype_code::Float), 16, 1};
    case DType::kBfloat16:
      return {static_cast<uint8_t>(nb::dlpack::dtype_code::Bfloat), 16, 1};
    case DType::kFloat32:
      return nb::dtype<float>();
    case DType::kFloat64:
      return nb::dtype<double>();
  }
  return {};
}

namespace {

using Exported = nb::ndarray<nb::array_api>;

// nanobind's exporter for the array. It keeps `self`, and so the memory, alive.
nb::object exporter(nb::pointer_and_handle<Array> self) {
  const Array& array = *self.p;
  const std::vector<size_t> shape(array.shape.begin(), array.shape.end());
  return nb::cast(Exported(array.data, shape.size(), shape.data(), self.h, nullptr,
                           dlpack_type(array.dtype), nb::device::cpu::value));
}

size_t bytes_of(const Array& array) {
  size_t bytes = size_in_bytes(array.dtype);
  for (const int64_t extent : array.shape) bytes *= static_cast<size_t>(extent);
  return bytes;
}

// The beginning of DLPack's DLManagedTensorVersioned, and its flag for copied memory.
struct VersionedHead {
  uint32_t major, minor;
  void* context;
  void* deleter;
  uint64_t flags;
};
constexpr uint64_t kIsCopied = 2;

// Returns a copy of the array in new memory.
Array copy_of(const Array& array) {
  const GilReleased released;
  Array copy = make_array(array.dtype, array.shape);
  if (array.data != nullptr) std::memcpy(copy.data, array.data, bytes_of(array));
  return copy;
}

template <typename Type>
using Given = nb::typed<nb::handle, Type>;  // or None

// Implements __dlpack__ of the Array API standard 2023.12. A copy belongs only to the consumer, and
// is flagged as copied if the capsule has flags (max_version 1.0 and higher).
Any dlpack(nb::pointer_and_handle<Array> self, Given<int> stream,
           Given<TupleOf<int, int>> max_version, Given<TupleOf<int, int>> dl_device,
           std::optional<bool> copy) {
  if (!stream.is_none()) {
    throw InvalidArgumentError(
        "the array is in CPU memory, which has no streams",
        {.expected = "stream=None",
         .found = nb::repr(stream).c_str(),
         .remedy = "Call `__dlpack__` without `stream`, then copy the array to your device"});
  }
  const nb::object copied = copy.value_or(false) ? nb::cast(copy_of(*self.p)) : nb::object();
  const nb::handle source = copied.is_valid() ? nb::handle(copied) : self.h;
  nb::object capsule = exporter({nb::inst_ptr<Array>(source), source})
                           .attr("__dlpack__")(nb::arg("max_version") = max_version,
                                               nb::arg("dl_device") = dl_device);
  if (copied.is_valid() && PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")) {
    void* const head = PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned");
    static_cast<VersionedHead*>(head)->flags |= kIsCopied;
  }
  return capsule;
}

// Requires: a bfloat16 array.
Array bfloat16_bits(Array array) {
  array.dtype = DType::kUint16;
  return array;
}

// Converts an object with DLPack in CPU memory, in any layout, to a number or nested lists. Errors:
// TypeError, and Python's errors for element types that memoryview does not support.
Any listed(nb::handle source) {
  nb::ndarray<nb::ro, nb::device::cpu> array;
  if (!nb::try_cast(source, array))
    throw nb::type_error("the object has no DLPack array in CPU memory");
  std::vector<size_t> shape(array.ndim());
  std::vector<int64_t> strides(array.ndim());
  for (size_t i = 0; i < array.ndim(); ++i) {
    shape[i] = array.shape(i);
    strides[i] = array.stride(i);
  }
  const nb::object exported = nb::cast(nb::ndarray<nb::ro, nb::array_api>(
      array.data(), array.ndim(), shape.data(), source, strides.data(), array.dtype()));
  PyObject* const view = PyMemoryView_FromObject(exported.ptr());
  if (view == nullptr) throw nb::python_error();
  return call_python(nb::steal(view).attr("tolist"),
                     nb::make_tuple());  // `array` keeps the memory alive until then
}

template <typename T>
void copy_strided(const nb::ndarray<nb::ro, nb::device::cpu>& from, double* into) {
  const auto* at = static_cast<const T*>(from.data());
  const size_t count = from.shape(0);
  const int64_t stride = from.stride(0);
  for (size_t i = 0; i < count; ++i) into[i] = at[static_cast<int64_t>(i) * stride];
}

// Copies one-dimensional float32 or float64 in any layout, without creating an object for each
// number. Returns: whether `source` is such an array and has the length of `into`.
bool copy_floats(nb::handle source,
                 const nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>& into) {
  nb::ndarray<nb::ro, nb::device::cpu> array;
  if (!nb::try_cast(source, array)) return false;
  if (array.ndim() != 1 || array.shape(0) != into.shape(0)) return false;
  const bool is_double = array.dtype() == nb::dtype<double>();
  if (!is_double && array.dtype() != nb::dtype<float>()) return false;
  const GilReleased released;
  if (is_double) {
    copy_strided<double>(array, into.data());
  } else {
    copy_strided<float>(array, into.data());
  }
  return true;
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
    return PyObject_GetBuffer(source.ptr(), view, flags);  // the exporter owns and releases it
  } catch (nb::python_error& error) {
    error.restore();
    return -1;
  }
}

PyType_Slot kSlots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)}, {0, nullptr}};

ShapeTuple shape_of(const Array& array) { return nb::tuple(nb::cast(array.shape)); }

size_t length(const Array& array) {
  if (array.shape.empty()) throw nb::type_error("len() of an array without dimensions");
  return static_cast<size_t>(array.shape.front());
}

// NumPy requests the buffer first, and calls this function if that fails with any error.
Any numpy_array(nb::handle self, const Any& dtype, Given<bool> copy) {
  if (nb::inst_ptr<Array>(self)->dtype == DType::kBfloat16) {
    throw UnsupportedError(
        "NumPy has no bfloat16",
        {.remedy = "Use torch.from_dlpack(array); for images, set the loader's `dtype` to "
                   "float32 or float16"});
  }
  const nb::object view = nb::steal(PyMemoryView_FromObject(self.ptr()));
  if (!view.is_valid()) throw nb::python_error();
  nb::dict named;
  named["dtype"] = dtype;
  if (!copy.is_none()) named["copy"] = copy;
  return call_python(import_module("numpy").attr(copy.is_none() ? "asarray" : "array"),
                     nb::make_tuple(view), named);
}

Any to_numpy(nb::handle self) {
  return call_python(import_module("numpy").attr("asarray"), nb::make_tuple(self));
}

nb::str describe(const Array& array) {
  return nb::str("Array(shape={}, dtype='{}')").format(shape_of(array), name_of(array.dtype));
}

}  // namespace

Array make_array(DType dtype, std::vector<int64_t> shape) {
  Array array{nullptr, nullptr, dtype, std::move(shape)};
  auto memory = std::make_shared_for_overwrite<std::byte[]>(bytes_of(array));
  array.data = memory.get();
  array.owner = std::move(memory);
  return array;
}

NewImage make_image(Size size, int64_t channels) {
  NewImage image{make_array(DType::kUint8, {size.height, size.width, channels}), {}};
  image.view = {reinterpret_cast<uint8_t*>(image.array.data), size.height, size.width, channels,
                size.width * channels};
  return image;
}

void bind_arrays(nb::module_& module) {
  nb::class_<Array>(
      module, "Array", nb::type_slots(kSlots),
      "A writable, C-contiguous array in memory that fuelrail allocated.\n"
      "\n"
      "`numpy.asarray(array)`, `torch.from_dlpack(array)` and other consumers of DLPack\n"
      "or the buffer protocol share the memory and keep it alive. bfloat16 arrays\n"
      "support only DLPack. For them, conversion to NumPy raises UnsupportedError, and\n"
      "the buffer protocol raises BufferError. An Array can be passed to\n"
      "`Dataset.subset`, and to a loader as `sampler` or `weights`.")
      .def_prop_ro("shape", shape_of, "Length of each dimension.")
      .def_prop_ro(
          "dtype", [](const Array& array) { return name_of(array.dtype); },
          "NumPy's name of the element type, such as 'float32'.")
      .def_prop_ro(
          "ndim", [](const Array& array) { return array.shape.size(); }, "Number of dimensions.")
      .def_prop_ro(
          "nbytes", [](const Array& array) { return bytes_of(array); },
          "Total size of the elements in bytes.")
      .def("__len__", length)
      .def("__repr__", describe)
      .def("numpy", to_numpy, "Returns a numpy.ndarray that shares this array's memory.")
      .def("__array__", numpy_array, nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none())
      .def("__dlpack__", dlpack, nb::kw_only(), nb::arg("stream").none() = nb::none(),
           nb::arg("max_version").none() = nb::none(), nb::arg("dl_device").none() = nb::none(),
           nb::arg("copy").none() = nb::none())
      .def("__dlpack_device__", [](const Array&) -> TupleOf<int, int> {
        return nb::make_tuple(nb::device::cpu::value, 0);
      });
  module.def("bfloat16_bits", bfloat16_bits, nb::arg("array"),
             "Returns the elements of a bfloat16 array as uint16, in the same memory.");
  module.def("listed", listed, nb::arg("array"),
             "Converts an array to nested lists, or to a number if the array has no dimensions. "
             "The array must be in CPU memory and support DLPack.");
  module.def(
      "copy_floats", copy_floats, nb::arg("source"), nb::arg("into").noconvert(),
      nb::sig("def copy_floats(source: object, into: array.array[float]) -> bool"),
      "Copies the numbers of `source` to `into` and returns True. Returns False, without copying, "
      "if `source` is not a one-dimensional float32 or float64 CPU array with as many elements as "
      "`into`.");
}

}  // namespace fuelrail::python
