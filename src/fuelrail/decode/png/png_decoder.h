// PNG by libspng: every colour type and bit depth, interlaced or not. (PNG, third edition, sections
// 5 and 11.)
#pragma once

#include <memory>

#include "fuelrail/decode/decoder.h"

namespace fuelrail {

// Requires: `encoded` starts with PNG's signature.
// The orientation comes from an eXIf chunk, before or after the pixels, or from an XMP packet in an
// uncompressed iTXt chunk.
// Errors: as for `probe`, which also checks the number of pixels.
ImageInfo probe_png(Bytes encoded);

// Reads the rows down to the box's last row; damage below it goes unnoticed. Alpha and transparent
// colours are dropped unless the output has four channels. Gamma is not applied.
std::unique_ptr<Decoder> make_png_decoder();

}  // namespace fuelrail
