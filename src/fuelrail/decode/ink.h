// The conversion of CMYK to RGB in Pillow's convert("RGB").
#pragma once

#include <cstdint>

namespace fuelrail {

// The level of a colour channel (0 to 255) after ink of level `ink` covers light of level `light`:
// light - light * ink / 255, rounded.
inline uint8_t light_under_ink(int light, int ink) {
  const int product = ink * light + 128;
  return static_cast<uint8_t>(light - ((product + (product >> 8)) >> 8));
}

}  // namespace fuelrail
