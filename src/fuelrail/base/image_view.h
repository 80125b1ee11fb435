// Views of interleaved 8-bit images (HWC). They own nothing; rows may be padded.
#pragma once

#include <cstdint>

#include "fuelrail/base/box.h"

namespace fuelrail {

// `Pixel` is uint8_t or const uint8_t.
template <typename Pixel>
struct BasicImageView {
  Pixel* data = nullptr;
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 3;
  int64_t row_stride_bytes = 0;  // at least width * channels

  Size size() const { return {height, width}; }
  Pixel* row(int64_t y) const { return data + y * row_stride_bytes; }
  // Requires: box.inside(size()).
  BasicImageView crop(Box box) const {
    return {row(box.top) + box.left * channels, box.height, box.width, channels, row_stride_bytes};
  }
  operator BasicImageView<const uint8_t>() const {
    return {data, height, width, channels, row_stride_bytes};
  }
};

using ImageView = BasicImageView<uint8_t>;
using ConstImageView = BasicImageView<const uint8_t>;

}  // namespace fuelrail
