// WebP by libwebp: lossy and lossless, and the first frame of an animation. (RFC 9649.)
#pragma once

#include <memory>

#include "fuelrail/decode/decoder.h"

namespace fuelrail {

// The part of a file to decode. Lifetime: views into the file.
struct WebpFrame {
  Bytes encoded;  // the bytes for libwebp: the whole file of a still image, else the first frame
  Box place;      // the frame's box on the canvas; the whole canvas for a still image
};

// Requires: `encoded` starts with "RIFF????WEBP".
// The orientation comes from an EXIF or XMP chunk that the extended header announces, before or
// after the pixels.
// Errors: as for `probe`, which also checks the number of pixels.
ImageInfo probe_webp(Bytes encoded);

// Requires: `info` is the result of probe_webp. Errors: TruncatedError if the first frame is
// missing; DecodeError if it exceeds the canvas.
WebpFrame first_frame(Bytes encoded, const ImageInfo& info);

// Uses libwebp's smooth ("fancy") upsampling without dithering; the pixels equal Pillow's. Decodes
// alpha only for output with four channels. Decodes the rows down to the box's last row, and
// filters and upsamples only the box's columns if that gives the same pixels. Damage below the box
// may go unnoticed.
std::unique_ptr<Decoder> make_webp_decoder();

}  // namespace fuelrail
