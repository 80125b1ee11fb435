// Encodes pixels as PNG with libspng.
#pragma once

#include <cstddef>
#include <vector>

#include "fuelrail/base/image_view.h"

namespace fuelrail {

inline constexpr int kDefaultPngLevel = 3;

// Replaces `out` with a PNG file of `image`: grey (1 channel), RGB (3) or RGBA (4), 8 bits per
// channel, not interlaced, without a colour profile. `level` is zlib's compression level: 0 does
// not compress, 9 gives the smallest file and is slowest. Every level is lossless. The same pixels
// give the same bytes.
// Requires: 0 <= level <= 9; 1, 3 or 4 channels; at least one pixel. Errors: UnsupportedError for
// an image that libspng cannot encode. Threads: any number at once.
void encode_png(ConstImageView image, int level, std::vector<std::byte>& out);

}  // namespace fuelrail
