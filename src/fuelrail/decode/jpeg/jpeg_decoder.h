// JPEG by libjpeg-turbo: baseline, extended and progressive, Huffman-coded, 8 bits. (ITU-T T.81.)
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "fuelrail/decode/decoder.h"

namespace fuelrail {

// Requires: `encoded` starts with FF D8.
// Errors: as for `probe`, which also checks the number of pixels.
ImageInfo probe_jpeg(Bytes encoded);

// Calls `take` with the header (from the number of components on) of each scan that begins after
// byte `at`, in the order in which libjpeg reads them. Ends at the end marker, at the last marker,
// or at damage, which the decoder reports. Requires: `at` is not inside a header.
void each_scan(Bytes encoded, size_t at, const std::function<void(Bytes header)>& take);

// Uses the accurate integer DCT and libjpeg's smooth ("fancy") upsampling, so the pixels equal
// those of libjpeg's full decode with its defaults, and Pillow's. A JPEG with one scan is read down
// to the box's last row (with vertically subsampled chroma, one more row of blocks); damage below
// that goes unnoticed. A progressive JPEG is read completely.
std::unique_ptr<Decoder> make_jpeg_decoder();

}  // namespace fuelrail
