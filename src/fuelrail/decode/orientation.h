// EXIF orientation (tag 0x0112, EXIF 2.3, section 4.6.4): turns stored pixels upright.
#pragma once

#include "fuelrail/base/box.h"
#include "fuelrail/base/image_view.h"

namespace fuelrail {

// The box in the stored image that corresponds to the box `upright` of the upright image. `stored`
// is the stored size of the whole image.
Box to_stored(Box upright, Size stored, int orientation);

// Turns pixels upright. Requires: `to` has the size of `from`, transposed for orientations 5 to 8;
// no overlap. Equal to Pillow's ImageOps.exif_transpose.
void turn_upright(ConstImageView from, int orientation, ImageView to);

}  // namespace fuelrail
