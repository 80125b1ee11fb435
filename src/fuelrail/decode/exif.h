// Reads an image's orientation from its EXIF and XMP metadata.
#pragma once

#include <optional>

#include "fuelrail/base/bytes.h"

namespace fuelrail {

// The orientation (tag 0x0112 of IFD 0, EXIF 2.3 section 4.6.4) in an EXIF block: a little- or
// big-endian TIFF header, optionally after "Exif\0\0". Every offset is checked; damage ends the
// search. Returns: the tag's value, valid or not; empty if the tag is missing.
std::optional<int> exif_orientation(Bytes exif);

// The value of the first `tiff:Orientation` of an XMP packet, an attribute or an element. Pillow's
// exif_transpose reads it if EXIF has no orientation.
std::optional<int> xmp_orientation(Bytes xmp);

// The orientation of an image: EXIF's, else XMP's, else 1. Values outside 1 to 8 become 1.
int orientation_from(Bytes exif, Bytes xmp);

}  // namespace fuelrail
