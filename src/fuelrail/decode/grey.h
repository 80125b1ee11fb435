// Conversion of colours to grey, and the error for a missing alpha channel.
#pragma once

#include <cstdint>

#include "fuelrail/base/error.h"

namespace fuelrail {

// 0.299 R + 0.587 G + 0.114 B in fixed point with 14 bits, rounded to the nearest: OpenCV's formula
// for BMP, TIFF, WebP and CMYK (modules/imgcodecs/src/utils.cpp).
inline uint8_t grey_of(int red, int green, int blue) {
  constexpr int kBits = 14;
  return static_cast<uint8_t>((4899 * red + 9617 * green + 1868 * blue + (1 << (kBits - 1))) >>
                              kBits);
}

// Writes one pixel of 1, 3 or 4 channels.
inline void put_pixel(uint8_t red, uint8_t green, uint8_t blue, uint8_t alpha, int64_t channels,
                      uint8_t* to) {
  if (channels == 1) {
    to[0] = grey_of(red, green, blue);
    return;
  }
  to[0] = red;
  to[1] = green;
  to[2] = blue;
  if (channels == 4) to[3] = alpha;
}

[[noreturn]] inline void refuse_alpha() {
  throw UnsupportedError("the image has no alpha channel, so it cannot be decoded to four channels",
                         {.remedy = "Decode the image to one or three channels"});
}

}  // namespace fuelrail
