// The inner loop of OpenCV's linear warp. Private to the module. Integers: the same bits on every
// target.
#pragma once

#include <cstdint>

#include "fuelrail/base/image_view.h"

namespace fuelrail {

// Where an output pixel's four taps begin, in bytes from the image's first, and its weights: the
// first of four int16 (upper left, upper right, lower left, lower right, sum 2^15).
struct CvWarpPlaces {
  const int32_t* offsets;
  const int32_t* weights;  // in units of four int16
  int64_t count;
};
inline constexpr int64_t kCvWarpStep = 4;        // places are read in such steps
inline constexpr int64_t kCvWarpReadBytes = 16;  // that are read at each tap of a row

// Makes `count` pixels of 3 or 4 channels, all of whose taps are inside, with 4 bytes each; up to
// 16 more bytes are touched. Requires: kCvWarpReadBytes readable at each offset, also a row below
// it; places that lie behind the last one are inside, too; 16 bytes readable at each of `weights`.
void cv_blend_places(ConstImageView from, const CvWarpPlaces& places, const int16_t* weights,
                     uint8_t* to);

}  // namespace fuelrail
