// The bytes of Python objects.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>

#include "bindings.h"
#include "fuelrail/base/bytes.h"

namespace fuelrail::python {

// The bytes of an object with a buffer, in C order; for an array that is not contiguous, a copy.
// Requires: the GIL is held by the constructor's and destructor's callers. Errors: Python's
// TypeError for an object without a buffer, or with a buffer of Python objects. Lifetime: holds the
// object's buffer.
class Buffer {
 public:
  explicit Buffer(nb::handle object);
  ~Buffer() { PyBuffer_Release(&view_); }
  Buffer& operator=(Buffer&&) = delete;

  Bytes bytes() const { return bytes_; }

 private:
  void take();

  Py_buffer view_{};
  std::unique_ptr<std::byte[]> copy_;
  Bytes bytes_;
};

// Binds a method that takes bytes. It runs without the GIL, with the bytes of `data`.
template <auto kMethod, typename Self>
auto with_bytes(Self& self, const Any& data) {
  const Buffer buffer(data);
  const GilReleased released;
  return (self.*kMethod)(buffer.bytes());
}

}  // namespace fuelrail::python
