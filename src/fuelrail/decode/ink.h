// The conversion of CMYK to RGB in Pillow's convert("RGB").
#pragma once

#include <cstdint>

namespace fuelrail {

// The light of one colour, 0 to 255, that remains of `light` under `ink`: light - light x ink /
// 255, rounded.
inline uint8_t light_under_ink(int light, int ink) {
  const int product = ink * light + 128;
  return static_cast<uint8_t>(light - ((product + (product >> 8)) >> 8));
}

}  // namespace fuelrail
