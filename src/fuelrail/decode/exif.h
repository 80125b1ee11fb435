// Where an image's metadata say which way is up.
#pragma once

#include <optional>

#include "fuelrail/base/bytes.h"

namespace fuelrail {

// The orientation (tag 0x0112 of IFD 0, EXIF 2.3 section 4.6.4) in an EXIF block: a TIFF header,
// little- or big-endian, that may follow "Exif\0\0". Every offset is checked; damage ends the
// search. Returns nothing where there is no such tag, and the tag's value, valid or not, where
// there is one.
std::optional<int> exif_orientation(Bytes exif);

// The first `tiff:Orientation` of an XMP packet, as attribute or element. Pillow's exif_transpose
// reads it where EXIF has no orientation.
std::optional<int> xmp_orientation(Bytes xmp);

// What an image shows upright: EXIF's word, else XMP's, else 1; 1 also for values outside 1 to 8.
int orientation_from(Bytes exif, Bytes xmp);

}  // namespace fuelrail
