// Re-codes progressive JPEGs as baseline JPEGs with libjpeg-turbo, without decoding to pixels.
#pragma once

#include <cstddef>
#include <vector>

#include "fuelrail/base/bytes.h"

namespace fuelrail {

// Whether it is a Huffman-coded progressive JPEG of 8 bits, of which libjpeg reads the header
// without a warning. Errors: std::bad_alloc. Threads: any number at once.
bool is_progressive_jpeg(Bytes bytes);

// Replaces `out` with a baseline JPEG (SOF0, one scan, codes made for the image) of the same
// coefficients and quantisers, which are read back and compared. All APPn and COM segments are
// copied, byte for byte and in their order; restart markers are dropped. The same bytes give the
// same result on every processor. Returns: false, with undefined content of `out`, for a JPEG that
// is damaged, has bytes after its end marker, or does not fit baseline: quantisers above 255,
// coefficients out of range, more than 10 blocks in an MCU. Takes as much memory as the
// coefficients of two such images. Works as long as decoding the whole image. Requires:
// is_progressive_jpeg. Errors: std::bad_alloc. Threads: any number at once.
bool recode_as_baseline(Bytes progressive, std::vector<std::byte>& out);

}  // namespace fuelrail
