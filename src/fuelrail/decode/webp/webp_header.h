// The chunks of a WebP file (RFC 9649, section 2).
#pragma once

#include "fuelrail/base/bytes.h"
#include "fuelrail/decode/probe.h"

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

}  // namespace fuelrail
