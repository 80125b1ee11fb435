// Working memory that is reused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace fuelrail {

// Uninitialized bytes, so that only pages that are written use memory. A block of more than
// kKeptBytes is freed at the next request for at most kKeptBytes. Threads: one.
class Scratch {
 public:
  static constexpr size_t kKeptBytes = size_t{16} << 20;

  // Memory returned by an earlier call becomes invalid. Errors: std::bad_alloc, which leaves the
  // scratch empty.
  uint8_t* take(size_t bytes) {
    if (bytes <= kKeptBytes) release_large();
    if (bytes > capacity_) {
      release();  // first, so that the old and the new block never exist together
      data_ = std::make_unique_for_overwrite<uint8_t[]>(bytes);
      capacity_ = bytes;
    }
    return data_.get();
  }

  // Frees a block of more than kKeptBytes.
  void release_large() noexcept {
    if (capacity_ > kKeptBytes) release();
  }

  size_t capacity() const { return capacity_; }

 private:
  void release() noexcept {
    data_.reset();
    capacity_ = 0;
  }

  std::unique_ptr<uint8_t[]> data_;
  size_t capacity_ = 0;
};

}  // namespace fuelrail
