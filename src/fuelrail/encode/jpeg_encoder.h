// From pixels to a baseline JPEG, by libjpeg-turbo.
#pragma once

#include <cstddef>
#include <vector>

#include "fuelrail/base/image_view.h"

namespace fuelrail {

inline constexpr int kDefaultJpegQuality = 95;

// Replaces `out` by a JFIF file of `image`: RGB as YCbCr 4:2:0, or one grey channel as it is; the
// standard's tables scaled to `quality`, accurate integer DCT. The same pixels give the same bytes
// on every processor.
// Requires: 1 <= quality <= 100; 1 or 3 channels; not empty. Errors: UnsupportedError for a side
// that is longer than libjpeg's 65,500 pixels. Threads: any number at once.
void encode_jpeg(ConstImageView image, int quality, std::vector<std::byte>& out);

}  // namespace fuelrail
