// PNG by libspng: every colour type and bit depth, interlaced or not.
#pragma once

#include <memory>

#include "fuelrail/decode/decoder.h"

namespace fuelrail {

// Rows are read from the first to the box's last; damage below is not noticed. Alpha and
// transparent colours are dropped but for four channels, gamma is not applied.
std::unique_ptr<Decoder> make_png_decoder();

}  // namespace fuelrail
