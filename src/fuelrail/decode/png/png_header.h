// The chunks of a PNG that say what it is (PNG, third edition, sections 5 and 11).
#pragma once

#include "fuelrail/base/bytes.h"
#include "fuelrail/decode/probe.h"

namespace fuelrail {

// Requires: `encoded` starts with PNG's signature.
// The orientation is that of an eXIf chunk, before or behind the pixels, or of an XMP packet in an
// uncompressed iTXt chunk.
// Errors: as `probe`, which also checks the number of pixels.
ImageInfo probe_png(Bytes encoded);

}  // namespace fuelrail
