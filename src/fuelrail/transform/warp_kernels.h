// The inner loop of bilinear warps. Private to the module.
#pragma once

#include <cstdint>

#include "fuelrail/base/image_view.h"

namespace fuelrail {

// Places are whole numbers of 2^-16 pixels.
inline constexpr int kPlaceBits = 16;
inline constexpr int64_t kWarpBlock = 8;

// The places of kWarpBlock output pixels in a row: base + offset[i].
struct WarpBlock {
  int32_t x = 0;
  int32_t y = 0;
};
struct WarpOffsets {
  alignas(32) int32_t x[kWarpBlock] = {};
  alignas(32) int32_t y[kWarpBlock] = {};
};

// Makes the pixels of `count` blocks, side by side. Requires: every place lies at least at 0 and
// below the last column and row; the image has fewer than 2^31 bytes, and one byte behind it may be
// read.
void blend_blocks(ConstImageView from, const WarpBlock* blocks, int64_t count,
                  const WarpOffsets& offsets, uint8_t* to);

}  // namespace fuelrail
