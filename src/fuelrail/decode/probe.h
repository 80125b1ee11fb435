// What an encoded image says of itself, from its header alone.
#pragma once

#include <cstdint>

#include "fuelrail/base/box.h"
#include "fuelrail/base/encoded_image.h"

namespace fuelrail {

struct ImageInfo {
  const ImageFormat* format = nullptr;
  Size stored;       // as the pixels are stored
  int channels = 0;  // as stored: 1 grey, 2 grey + alpha, 3 colour or palette, 4 CMYK or with alpha
  bool alpha = false;  // some pixels may let a background through
  int bits = 8;        // of a sample, as stored; pixels have 8, the upper ones where these are more
  bool grey_palette = false;  // a BMP whose palette has greys alone: OpenCV takes it for grey
  // EXIF tag 0x0112, 1 to 8; 1 where there is none or it is not valid. As in Pillow, an XMP
  // packet's `tiff:Orientation` stands in for a missing tag.
  int orientation = 1;
  // Whether DecodeJob::eighths may be below 8 without colours becoming coarser than the result: a
  // JPEG whose planes are subsampled equally in both directions, by 1, 2 or 4.
  bool scalable = false;
  // The size as it is meant to be seen: stored, transposed for orientations 5 to 8.
  Size oriented() const { return orientation >= 5 ? Size{stored.width, stored.height} : stored; }
};

// Pillow's own limit (Image.MAX_IMAGE_PIXELS times two).
inline constexpr int64_t kDefaultMaxPixels = 178'956'970;

// No image with a longer side is decoded, whatever the format: one row of it would take the memory
// of a whole image. docs/limits.md has all limits.
inline constexpr int64_t kMaxSide = 65535;
inline constexpr int64_t kMaxJpegSide = 65500;  // libjpeg's own, JPEG_MAX_DIMENSION

// What the image's codec says of it, else what its header does. Allocates nothing that depends on
// what they declare.
// Errors: UnsupportedError for a format that fuelrail does not decode (named where it is known;
// TIFF in a build without it); DecodeError for a damaged or empty header, a zero size, more
// pixels than `max_pixels`, or a side longer than is decoded; TruncatedError.
ImageInfo probe(const EncodedImage& encoded, int64_t max_pixels = kDefaultMaxPixels);

}  // namespace fuelrail
