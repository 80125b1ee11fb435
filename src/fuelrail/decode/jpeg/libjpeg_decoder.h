// Decodes every JPEG that `probe_jpeg` accepts, by libjpeg-turbo.
#pragma once

#include <memory>

#include "fuelrail/decode/decoder.h"

namespace fuelrail {

// Uses the accurate integer DCT and libjpeg's smooth ("fancy") upsampling, so the pixels equal
// those of libjpeg's full decode with its defaults, and Pillow's. A JPEG with one scan is read down
// to the box's last row (with vertically subsampled chroma, one more row of blocks); damage below
// that goes unnoticed. A progressive JPEG is read completely. Requires: jobs for pixels.
std::unique_ptr<Decoder> make_libjpeg_decoder();

}  // namespace fuelrail
