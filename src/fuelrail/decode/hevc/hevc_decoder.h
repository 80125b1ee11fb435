// H.265 and H.264 stills, whose container states their properties (base/encoded_image.h), decoded
// by the plugin (base/hevc_library.h).
#pragma once

#include <memory>

#include "fuelrail/decode/decoder.h"

namespace fuelrail {

// Errors: MissingCodecError if there is no plugin, or for H.264 a plugin that cannot decode it. The
// images' sizes are known all the same, and everything that needs no pixels works.
std::unique_ptr<Decoder> make_hevc_decoder();
std::unique_ptr<Decoder> make_h264_decoder();

}  // namespace fuelrail
