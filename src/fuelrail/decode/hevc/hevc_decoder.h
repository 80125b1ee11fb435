// H.265 and H.264 stills, whose container states their properties (base/encoded_image.h).
#pragma once

#include <memory>

#include "fuelrail/decode/decoder.h"

namespace fuelrail {

// Errors: StateError, because this version of fuelrail has no decoder for these formats. Their
// sizes are known all the same, and everything that needs no pixels works.
std::unique_ptr<Decoder> make_hevc_decoder();
std::unique_ptr<Decoder> make_h264_decoder();

}  // namespace fuelrail
