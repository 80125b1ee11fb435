// Writes rows of a PNG's samples as pixels or as values.
#pragma once

#include <cstdint>

#include "fuelrail/decode/png/plain_png.h"

namespace fuelrail::png {

// Pixels `left` to `left + count` (exclusive) of an unfiltered row.
struct RowPixels {
  const uint8_t* row = nullptr;
  int64_t left = 0;
  int64_t count = 0;
};

using WriteRow = void (*)(const PlainPng& png, const RowPixels& pixels, uint8_t* to);

// A function that writes 8-bit pixels of 1, 3 or 4 channels. Samples of 16 bits lose the lower 8,
// and those of fewer than 8 are scaled to 255. Grey of colours is libpng's (png_decoder.h).
// Requires: png.has_alpha for 4 channels.
WriteRow pixel_writer(const PlainPng& png, int64_t channels);

// A function that writes the values of a grey or a palette image (ValueEncoding::kStored).
WriteRow value_writer(const PlainPng& png);

}  // namespace fuelrail::png
