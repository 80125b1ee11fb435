// From pixels to a PNG, by libspng.
#pragma once

#include <cstddef>
#include <vector>

#include "fuelrail/base/image_view.h"

namespace fuelrail {

inline constexpr int kDefaultPngLevel = 3;

// Replaces `out` by a PNG file of `image`: 8 bits a channel, grey (1), RGB (3) or RGBA (4), not
// interlaced, no colour profile. `level` is zlib's: 0 stores, 9 is smallest and slowest; the pixels
// come back as they were whatever it is. The same pixels give the same bytes.
// Requires: 0 <= level <= 9; 1, 3 or 4 channels; not empty. Errors: UnsupportedError for what
// libspng cannot hold. Threads: any number at once.
void encode_png(ConstImageView image, int level, std::vector<std::byte>& out);

}  // namespace fuelrail
