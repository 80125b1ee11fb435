// BMP, by code of our own: palettes of 1, 4 and 8 bits, plain or run-length encoded; 16, 24 and 32
// bits with the usual or given masks; bottom-up and top-down.
#pragma once

#include <memory>

#include "fuelrail/decode/decoder.h"

namespace fuelrail {

// The pixels are Pillow's. Only the box's rows are touched, except in run-length encoded images,
// which are read to their end. A pixel whose colour the palette does not have is damage; one that
// run-length encoding leaves out has the palette's first colour.
std::unique_ptr<Decoder> make_bmp_decoder();

}  // namespace fuelrail
