// The inner loops of OpenCV's colours, in place. Private to the module. Floats without fused
// multiplications: the same bits on every target.
#pragma once

#include <cstdint>

namespace fuelrail {

// A row of `count` pixels of three bytes each: whole, because its last count % 4 pixels are
// OpenCV's odd ones.
void cv_pixels_to_hls(uint8_t* pixels, int64_t count);
void cv_pixels_to_rgb(uint8_t* pixels, int64_t count);

}  // namespace fuelrail
