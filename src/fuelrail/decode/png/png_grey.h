// Conversion of a PNG's colours to grey.
#pragma once

#include <cstdint>

namespace fuelrail::png {

// libpng's grey (png_set_rgb_to_gray) with OpenCV's weights 0.299 and 0.587, in fixed point with 15
// bits. `rounding`: 0 rounds down, as for 8-bit samples; 1 << 14 to the nearest, as for 16-bit
// ones. Grey stays unchanged.
inline uint32_t weighed(uint32_t red, uint32_t green, uint32_t blue, uint32_t rounding) {
  if (red == green && red == blue) return red;
  return (9797 * red + 19234 * green + 3737 * blue + rounding) >> 15;
}

}  // namespace fuelrail::png
