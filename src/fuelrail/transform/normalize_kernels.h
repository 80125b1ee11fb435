// The inner loops of PixelWriter: one row of pixels into one row of three planes, or of one
// interleaved array. Private to the module.
#pragma once

#include <cstdint>

#include "fuelrail/transform/pixel_row.h"

namespace fuelrail {

// Where the channels of a row go: elements `step` apart, 1 (planes) or 3 (interleaved: the pointers
// are neighbours).
template <typename Element>
struct ElementRow {
  Element* channel[3] = {};
  int64_t step = 1;
};

// (x / 255 - mean) / std, and the same as a table: channel * 256 + level. `words` are the bits of
// the 16-bit type that is asked for.
struct Conversion {
  const float* mean = nullptr;
  const float* std = nullptr;
  const float* floats = nullptr;
  const uint16_t* words = nullptr;
};

void write_row(const PixelRow& row, const ElementRow<uint8_t>& to);
void write_row(const PixelRow& row, const Conversion& conversion, const ElementRow<float>& to);
void write_half_row(const PixelRow& row, const Conversion& conversion,
                    const ElementRow<uint16_t>& to);
void write_bfloat16_row(const PixelRow& row, const Conversion& conversion,
                        const ElementRow<uint16_t>& to);

}  // namespace fuelrail
