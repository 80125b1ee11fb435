// Memory for pixels, which a worker reuses for each image.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "fuelrail/base/image_view.h"
#include "fuelrail/base/scratch.h"

namespace fuelrail {

// Grows and shrinks like Scratch. Threads: one at a time.
class PixelBuffer {
 public:
  static constexpr size_t kKeptBytes = Scratch::kKeptBytes;
  static constexpr size_t kReadableBehind = 64;  // readable bytes after the last pixel
  static constexpr int64_t kChannels = 3;

  // Returns uninitialised pixels. `margin` columns on both sides of each row also belong to the
  // buffer. Invalidates earlier views. Errors: std::bad_alloc; the buffer is then empty.
  ImageView resize(Size size, int64_t margin = 0, int64_t channels = kChannels) {
    const int64_t row_stride_bytes = (size.width + 2 * margin) * channels;
    const auto needed = static_cast<size_t>(size.height * row_stride_bytes);
    uint8_t* const data = memory_.take(needed + kReadableBehind);
    return {data + margin * channels, size.height, size.width, channels, row_stride_bytes};
  }

  // The number of bytes available for pixels.
  size_t capacity() const {
    return memory_.capacity() - std::min(memory_.capacity(), kReadableBehind);
  }

 private:
  Scratch memory_;
};

}  // namespace fuelrail
