// Memory for pixels that one worker reuses from image to image.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "fuelrail/base/image_view.h"

namespace fuelrail {

// Grows as needed; what a giant image took goes back with the next image of ordinary size.
// Threads: one.
class PixelBuffer {
 public:
  static constexpr size_t kKeptBytes = size_t{16} << 20;
  static constexpr size_t kReadableBehind = 64;  // bytes after the last pixel that loads may touch
  static constexpr int64_t kChannels = 3;

  // Pixels without a value: every one is written before it is read. `margin` columns on both sides
  // of each row are the buffer's memory too. What an earlier view showed is gone. Errors:
  // std::bad_alloc; the buffer is empty then.
  ImageView resize(Size size, int64_t margin = 0, int64_t channels = kChannels) {
    const int64_t row_stride_bytes = (size.width + 2 * margin) * channels;
    const auto needed = static_cast<size_t>(size.height * row_stride_bytes);
    if (needed > capacity_ || (capacity_ > kKeptBytes && needed <= kKeptBytes)) {
      data_.reset();  // before the new memory is there: never both
      capacity_ = 0;
      data_ = std::make_unique_for_overwrite<uint8_t[]>(needed + kReadableBehind);
      capacity_ = needed;
    }
    return {data_.get() + margin * channels, size.height, size.width, channels, row_stride_bytes};
  }

  size_t capacity() const { return capacity_; }

 private:
  std::unique_ptr<uint8_t[]> data_;
  size_t capacity_ = 0;
};

}  // namespace fuelrail
