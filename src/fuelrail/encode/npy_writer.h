// Writes arrays as .npy files (docs/formats/npy.md).
#pragma once

#include <cstddef>
#include <vector>

#include "fuelrail/base/raw_view.h"

namespace fuelrail {

// Replaces `out` with a .npy file of `array`, byte for byte the same as numpy.save. The array has
// the shape (height, width), or (height, width, channels) if it has more than one channel. The
// elements begin at byte 128, so they are aligned as in memory if the file is.
// Requires: uint8, uint16, int32, float16 or float32. Errors: InvalidArgumentError for another
// element type. Threads: any number at once.
void encode_npy(ConstRawView array, std::vector<std::byte>& out);

// Replaces `out` with the part of this file before the elements. Errors, too: as above.
void encode_npy_header(ConstRawView array, std::vector<std::byte>& out);

}  // namespace fuelrail
