// Non-owning views of interleaved 8-bit images (HWC). Rows may be padded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

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

// Requires: equal sizes and numbers of channels; no overlap.
inline void copy_rows(ConstImageView from, ImageView to) {
  const auto bytes = static_cast<size_t>(from.width * from.channels);
  for (int64_t y = 0; y < from.height; ++y) std::memcpy(to.row(y), from.row(y), bytes);
}

}  // namespace fuelrail
