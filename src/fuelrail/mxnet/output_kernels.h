// The inner loops of OutputWriter: one row of interleaved pixels into one row of each channel's
// plane. Private to the module.
#pragma once

#include <cstdint>

#include "fuelrail/transform/pixel_row.h"

namespace fuelrail::mxnet {

// (level - mean) * factor + offset, or, with `divide`, (level - mean) / factor * offset; each
// operation rounded to float32.
struct OutputChannel {
  float mean = 0;
  float factor = 1;
  float offset = 0;
};

// `channels` and `to` have one item a channel. `means`: instead of each channel's mean, one value a
// pixel, in the order of `row.from`; or null.
void write_output_floats(const PixelRow& row, const OutputChannel* channels, bool divide,
                         const float* const* means, float* const* to);

void write_output_bytes(const PixelRow& row, uint8_t* const* to);

// level - mean, cut to -128 to 127. `mean` has one item a channel; `means` as above.
void write_output_signed(const PixelRow& row, const int16_t* mean, const int16_t* const* means,
                         int8_t* const* to);

}  // namespace fuelrail::mxnet
