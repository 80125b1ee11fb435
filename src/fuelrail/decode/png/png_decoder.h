// PNG: every colour type and bit depth, interlaced or not. (PNG, third edition, sections 5 and 11.)
#pragma once

#include <memory>

#include "fuelrail/decode/decoder.h"

namespace fuelrail {

// Requires: `encoded` starts with PNG's signature.
// The orientation comes from an eXIf chunk, before or after the pixels, or from an XMP packet in an
// uncompressed iTXt chunk.
// Errors: as for `probe`, which also checks the number of pixels.
ImageInfo probe_png(Bytes encoded);

// PNGs that are not interlaced are decoded by png::PlainPngDecoder, unless they are very large or
// the box ends in the first quarter of the rows. Others, and those in which it finds anything odd,
// are decoded by libspng, which alone reports errors. Damage below the box's last row goes
// unnoticed. Alpha and transparent colours are dropped unless the output has four channels. Gamma
// is not applied.
//
// For tests and benchmarks, FUELRAIL_PNG=libspng in the environment decodes all images by libspng.
std::unique_ptr<Decoder> make_png_decoder();

// Errors: InvalidArgumentError if FUELRAIL_PNG has another value.
void check_png_environment();

}  // namespace fuelrail
