// Encodes pixels and values as PNG with libspng.
#pragma once

#include <cstddef>
#include <vector>

#include "fuelrail/base/image_view.h"
#include "fuelrail/base/raw_view.h"

namespace fuelrail {

inline constexpr int kDefaultPngLevel = 3;

// Replaces `out` with a PNG file of `image`: grey (1 channel), RGB (3) or RGBA (4), 8 bits per
// channel, not interlaced, without a colour profile. `level` is zlib's compression level: 0 does
// not compress, 9 gives the smallest file and is slowest. Every level is lossless. The same pixels
// give the same bytes.
// Requires: 0 <= level <= 9; 1, 3 or 4 channels; at least one pixel. Errors: UnsupportedError for
// an image that libspng cannot encode. Threads: any number at once.
void encode_png(ConstImageView image, int level, std::vector<std::byte>& out);

// Replaces `out` with a grey PNG of 8 or 16 bits whose levels are `values`, such as those of a
// mask. Rows are not filtered, and the compression level is 3: neighbours in a mask are mostly
// equal, and filters only hide this from the compressor. For a drawn mask of 512 x 683 with 25
// objects (AMD EPYC, one thread):
//
//   filter                 bytes   encode    decode
//   none, level 1         11,930   0.57 ms   0.32 ms
//   none, level 3         10,411   0.62 ms   0.29 ms
//   none, level 9          5,299   23.4 ms   0.28 ms
//   up, level 3           10,070   0.98 ms   0.41 ms
//   chosen by row, 3      10,194   3.86 ms   0.84 ms   (as encode_png)
//
// Requires: uint8 or uint16; 1 channel; at least one value. Errors and threads: as for encode_png.
void encode_values_png(ConstRawView values, std::vector<std::byte>& out);

}  // namespace fuelrail
