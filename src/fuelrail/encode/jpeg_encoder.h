// Encodes pixels as baseline JPEG with libjpeg-turbo.
#pragma once

#include <cstddef>
#include <vector>

#include "fuelrail/base/image_view.h"

namespace fuelrail {

inline constexpr int kDefaultJpegQuality = 95;

// Replaces `out` with a JFIF file of `image`: RGB as YCbCr 4:2:0, or one grey channel unchanged;
// the JPEG standard's quantization tables scaled by `quality`; accurate integer DCT. The same
// pixels give the same bytes on every processor.
// Requires: 1 <= quality <= 100; 1 or 3 channels; at least one pixel. Errors: UnsupportedError for
// a side longer than libjpeg's limit of 65,500 pixels. Threads: any number at once.
void encode_jpeg(ConstImageView image, int quality, std::vector<std::byte>& out);

}  // namespace fuelrail
