// Reads an encoded image's format, size and other properties from its header.
#pragma once

#include <cstdint>
#include <optional>

#include "fuelrail/base/box.h"
#include "fuelrail/base/dtype.h"
#include "fuelrail/base/encoded_image.h"

namespace fuelrail {

struct ImageInfo {
  const ImageFormat* format = nullptr;
  Size stored;         // before the orientation is applied
  int channels = 0;    // stored: 1 grey, 2 grey + alpha, 3 colour or palette, 4 CMYK or with alpha
  bool alpha = false;  // some pixels may be transparent
  int bits = 8;        // of a stored sample; decoded pixels keep the upper 8
  bool grey_palette = false;  // a BMP whose palette has only greys, which OpenCV reads as grey
  // EXIF tag 0x0112, 1 to 8; 1 if the tag is missing or invalid. As in Pillow, an XMP packet's
  // `tiff:Orientation` replaces a missing tag.
  int orientation = 1;
  // Whether an image decoded with DecodeJob::eighths below 8 has colours as fine as its pixels.
  // True for a JPEG whose planes are subsampled equally in both directions, by 1, 2 or 4.
  bool scalable = false;
  bool palette = false;  // samples are indices into a palette
  bool lossy = false;    // decoded colours may differ slightly from those that were encoded
  // The element type of the image's values (decode/values.h). Empty: the image has colours or
  // alpha, so its pixels are not values.
  std::optional<DType> values{};
  // The size of the upright image: `stored`, transposed for orientations 5 to 8.
  Size oriented() const { return orientation >= 5 ? Size{stored.width, stored.height} : stored; }
};

// Pillow's limit: twice its Image.MAX_IMAGE_PIXELS.
inline constexpr int64_t kDefaultMaxPixels = 178'956'970;

// The largest height or width of an image in any format: one longer row would take as much memory
// as a whole image. docs/limits.md lists all limits.
inline constexpr int64_t kMaxSide = 65535;
inline constexpr int64_t kMaxJpegSide = 65500;  // libjpeg's limit, JPEG_MAX_DIMENSION

// Returns the properties that the image's codec declares or, if it declares none, those in the
// image's header. The amount of memory that `probe` allocates does not depend on the image's size.
// Errors: UnsupportedError for a format that fuelrail does not decode (the error names it if it is
// known; this includes TIFF in a build without TIFF); DecodeError for a damaged or empty header, a
// height or width of 0, more pixels than `max_pixels`, or a height or width that is too large;
// TruncatedError.
ImageInfo probe(const EncodedImage& encoded, int64_t max_pixels = kDefaultMaxPixels);

}  // namespace fuelrail
