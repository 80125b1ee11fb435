// JPEG by libjpeg-turbo: baseline, extended and progressive, Huffman-coded, 8 bits.
#pragma once

#include <memory>

#include "fuelrail/decode/decoder.h"

namespace fuelrail {

// The accurate integer DCT and libjpeg's smooth ("fancy") upsampling: the pixels are those of
// libjpeg's full decode with its defaults, hence Pillow's.
// Of a JPEG with one scan, only what lies above the box's last row (and, where chroma is subsampled
// vertically, below it by one row of blocks) is read: damage further down is not noticed. A
// progressive JPEG is read whole.
std::unique_ptr<Decoder> make_jpeg_decoder();

}  // namespace fuelrail
