// The inner loops of colours.h, one row each. The same bits on every instruction set. Private to
// the module.
#pragma once

#include <cstdint>

namespace fuelrail::mxnet {

// factor * level + offset of `count` bytes. Requires: finite results.
void scale_level_row(uint8_t* row, int64_t count, float factor, float offset);

// The sum of MXNet's grey.
uint64_t sum_mxnet_grey_row(const uint8_t* rgb, int64_t width);

// factor * level + (1 - factor) * MXNet's grey. Requires: finite results.
void saturate_row(uint8_t* rgb, int64_t width, float factor);

}  // namespace fuelrail::mxnet
