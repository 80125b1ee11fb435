// Images that are MP4 files of their own: the records of `.bzna` files (mp4/nested_file.h), which
// may be stored in any container.
#pragma once

#include <memory>

#include "fuelrail/decode/decoder.h"

namespace fuelrail {

// Errors, in the jobs: those of read_nested_image, and of the decoder of the image.
std::unique_ptr<Decoder> make_mp4_decoder();

}  // namespace fuelrail
