// The shape of one image in a batch, in MXNet's order.
#pragma once

#include <cstdint>

#include "fuelrail/base/box.h"

namespace fuelrail::mxnet {

// MXNet's `data_shape`. One channel is grey; three are red, green and blue; four add alpha.
struct MxShape {
  int64_t channels = 3;  // 1, 3 or 4
  int64_t height = 0;
  int64_t width = 0;

  Size size() const { return {height, width}; }
  int64_t elements() const { return channels * height * width; }
  friend bool operator==(const MxShape&, const MxShape&) = default;
};

// The limit on the sides of output and intermediate images. It is OpenCV's own limit.
inline constexpr int64_t kLongestSide = 32766;

// Checks that the shape has 1, 3 or 4 channels, and a height and width of 1 to kLongestSide.
// Errors: InvalidArgumentError that names `data_shape`.
void check(const MxShape& shape);

}  // namespace fuelrail::mxnet
