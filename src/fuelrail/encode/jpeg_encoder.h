// Encodes pixels as baseline JPEG with libjpeg-turbo.
#pragma once

#include <cstddef>
#include <vector>

#include "fuelrail/base/image_view.h"

namespace fuelrail {

inline constexpr int kDefaultJpegQuality = 95;

// Replaces `out` with a JFIF file of `image`. RGB is stored as YCbCr 4:2:0, and a grey image as one
// channel. The quantization tables are those of the JPEG standard, scaled by `quality`; the DCT is
// the accurate integer one. The same pixels give the same bytes on every processor.
// Requires: 1 <= quality <= 100; 1 or 3 channels; at least one pixel. Errors: UnsupportedError for
// a height or width above libjpeg's limit of 65,500 pixels. Threads: any number at once.
void encode_jpeg(ConstImageView image, int quality, std::vector<std::byte>& out);

}  // namespace fuelrail
