// WebP by libwebp: lossy and lossless; of an animation its first frame. (RFC 9649.)
#pragma once

#include <memory>

#include "fuelrail/decode/decoder.h"

namespace fuelrail {

// Where a file's pixels are. Lifetime: views into the file.
struct WebpFrame {
  Bytes encoded;  // what libwebp decodes: a still image's whole file, else the first frame
  Box place;      // of the frame on the canvas; all of it for a still image
};

// Requires: `encoded` starts with "RIFF????WEBP".
// The orientation is that of an EXIF or XMP chunk which the extended header announces, before or
// behind the pixels.
// Errors: as `probe`, which also checks the number of pixels.
ImageInfo probe_webp(Bytes encoded);

// Requires: `info` is what probe_webp said. Errors: DecodeError, TruncatedError where there is no
// first frame or it does not lie on the canvas.
WebpFrame first_frame(Bytes encoded, const ImageInfo& info);

// libwebp's smooth ("fancy") upsampling, no dithering: the pixels are Pillow's. Alpha is not
// decoded. Only the rows down to the box's last are, and of these only the box's columns are
// filtered and upsampled where that gives the same pixels: damage below may go unnoticed.
std::unique_ptr<Decoder> make_webp_decoder();

}  // namespace fuelrail
