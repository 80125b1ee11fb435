// Memory for pixels that one worker reuses from image to image.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "fuelrail/base/image_view.h"
#include "fuelrail/base/scratch.h"

namespace fuelrail {

// Grows and shrinks as Scratch does. Threads: one.
class PixelBuffer {
 public:
  static constexpr size_t kKeptBytes = Scratch::kKeptBytes;
  static constexpr size_t kReadableBehind = 64;  // bytes after the last pixel that loads may touch
  static constexpr int64_t kChannels = 3;

  // Pixels without a value: every one is written before it is read. `margin` columns on both sides
  // of each row are the buffer's memory too. What an earlier view showed is gone. Errors:
  // std::bad_alloc; the buffer is empty then.
  ImageView resize(Size size, int64_t margin = 0, int64_t channels = kChannels) {
    const int64_t row_stride_bytes = (size.width + 2 * margin) * channels;
    const auto needed = static_cast<size_t>(size.height * row_stride_bytes);
    uint8_t* const data = memory_.take(needed + kReadableBehind);
    return {data + margin * channels, size.height, size.width, channels, row_stride_bytes};
  }

  // Bytes of pixels that there is room for.
  size_t capacity() const {
    return memory_.capacity() - std::min(memory_.capacity(), kReadableBehind);
  }

 private:
  Scratch memory_;
};

}  // namespace fuelrail
