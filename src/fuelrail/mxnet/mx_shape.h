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

// The longest side of an output or intermediate image. It is OpenCV's own limit.
inline constexpr int64_t kLongestSide = 32766;

// Errors: InvalidArgumentError with the name `data_shape`, unless it has 1, 3 or 4 channels and
// both sides are 1 to kLongestSide.
void check(const MxShape& shape);

}  // namespace fuelrail::mxnet
