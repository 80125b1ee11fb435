// JPEG by libjpeg-turbo: baseline, extended and progressive, Huffman-coded, 8 bits. (ITU-T T.81.)
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "fuelrail/decode/decoder.h"

namespace fuelrail {

// Requires: `encoded` starts with FF D8.
// Errors: as `probe`, which also checks the number of pixels.
ImageInfo probe_jpeg(Bytes encoded);

// Calls `take` with the header of each scan that begins behind byte `at` (from its number of
// components on), as libjpeg will meet them: up to the end marker, or to where no marker is left.
// Damage ends it too, which the decoder reports. Requires: `at` is not inside a header.
void each_scan(Bytes encoded, size_t at, const std::function<void(Bytes header)>& take);

// The accurate integer DCT and libjpeg's smooth ("fancy") upsampling: the pixels are those of
// libjpeg's full decode with its defaults, hence Pillow's.
// Of a JPEG with one scan, only what lies above the box's last row (and, where chroma is subsampled
// vertically, below it by one row of blocks) is read: damage further down is not noticed. A
// progressive JPEG is read whole.
std::unique_ptr<Decoder> make_jpeg_decoder();

}  // namespace fuelrail
