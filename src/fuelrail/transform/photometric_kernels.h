// The inner loops of the changes of colours, over pixels that lie side by side. Private to the
// module.
#pragma once

#include <cstdint>

namespace fuelrail {

// Each level becomes trunc(clamp(factor * level + addend)).
void scale_levels(uint8_t* levels, int64_t count, float factor, float addend);

// Each level becomes trunc(clamp(factor * level + rest * grey of its pixel)).
void blend_with_grey(uint8_t* pixels, int64_t count, float factor, float rest);

void turn_hue(uint8_t* pixels, int64_t count, float turn);

void make_grey(uint8_t* pixels, int64_t count);

// Returns: the sum of the pixels' grey levels.
uint64_t sum_of_grey(const uint8_t* pixels, int64_t count);

}  // namespace fuelrail
