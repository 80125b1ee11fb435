// WebP by libwebp: lossy and lossless; of an animation its first frame.
#pragma once

#include <memory>

#include "fuelrail/decode/decoder.h"

namespace fuelrail {

// libwebp's smooth ("fancy") upsampling, no dithering: the pixels are Pillow's. Alpha is not
// decoded. Only the rows down to the box's last are, and of these only the box's columns are
// filtered and upsampled where that gives the same pixels: damage below may go unnoticed.
std::unique_ptr<Decoder> make_webp_decoder();

}  // namespace fuelrail
