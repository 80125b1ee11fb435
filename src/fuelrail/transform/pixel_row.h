// One row of interleaved pixels, the input of an image's last step. Private to the core.
#pragma once

#include <cstdint>

namespace fuelrail {

struct PixelRow {
  const uint8_t* from = nullptr;
  int64_t width = 0;
  int64_t channels = 3;  // 1, 3 or 4
  bool flip = false;     // the last pixel becomes the first
};

}  // namespace fuelrail
