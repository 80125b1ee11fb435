#include "buffer.h"

namespace fuelrail::python {
namespace {

// Whether a buffer's elements are or contain references to Python objects. `format` follows PEP
// 3118, in which the names of a structure's fields are between colons.
bool holds_objects(const char* format) {
  bool in_name = false;
  for (; *format != '\0'; ++format) {
    if (*format == ':') in_name = !in_name;
    if (*format == 'O' && !in_name) return true;
  }
  return false;
}

}  // namespace

Buffer::Buffer(nb::handle object) {
  if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_FULL_RO) != 0) throw nb::python_error();
  try {
    take();
  } catch (...) {
    PyBuffer_Release(&view_);
    throw;
  }
}

void Buffer::take() {
  if (view_.format != nullptr && holds_objects(view_.format)) {
    throw nb::type_error("an array of Python objects cannot be read as bytes");
  }
  const auto size = static_cast<size_t>(view_.len);
  if (PyBuffer_IsContiguous(&view_, 'C')) {
    bytes_ = Bytes(static_cast<const std::byte*>(view_.buf), size);
    return;
  }
  copy_ = std::make_unique_for_overwrite<std::byte[]>(size);
  if (PyBuffer_ToContiguous(copy_.get(), &view_, view_.len, 'C') != 0) throw nb::python_error();
  bytes_ = Bytes(copy_.get(), size);
}

}  // namespace fuelrail::python
