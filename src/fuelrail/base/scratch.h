// Working memory that is kept from one use to the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace fuelrail {

// Bytes without a value: whoever fails early has only touched what was written. What a giant image
// took is freed with the next image of ordinary size. Threads: one.
class Scratch {
 public:
  static constexpr size_t kKeptBytes = size_t{16} << 20;

  // What an earlier call gave is gone. Errors: std::bad_alloc; the scratch is empty then.
  uint8_t* take(size_t bytes) {
    if (bytes > capacity_ || (capacity_ > kKeptBytes && bytes <= kKeptBytes)) {
      data_.reset();  // before the new memory is there: never both
      capacity_ = 0;
      data_ = std::make_unique_for_overwrite<uint8_t[]>(bytes);
      capacity_ = bytes;
    }
    return data_.get();
  }

  size_t capacity() const { return capacity_; }

 private:
  std::unique_ptr<uint8_t[]> data_;
  size_t capacity_ = 0;
};

}  // namespace fuelrail
