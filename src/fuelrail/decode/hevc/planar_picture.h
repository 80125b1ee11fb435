// A decoded picture as planes of luma and chroma.
#pragma once

#include "fuelrail/base/box.h"
#include "fuelrail/base/image_view.h"
#include "fuelrail/base/planes.h"
#include "fuelrail/decode/hevc/sps.h"

namespace fuelrail::hevc {

// The planes of a picture, and what their values mean.
struct PlanarPicture : Planes {
  bool full_range = true;
  Matrix matrix = Matrix::kBt601;
  Siting siting = Siting::kCentre;
};

// Converts the box of a picture to RGB of 8 bits or, if `output` has one channel, to its luma in
// full range (of an RGB picture, 0.299 R + 0.587 G + 0.114 B). Between chroma values it
// interpolates linearly, at the positions that `siting` states (4:2:2 always as kLeft: ITU-T H.265,
// figure 6-2), and repeats those at the edges of the picture. The matrices are those of ITU-T
// H.265, section E.3.1; results are rounded, not truncated. The pixels do not depend on the box.
// Requires: the box is inside the picture; 1 or 3 channels; an RGB picture is 4:4:4.
void to_pixels(const PlanarPicture& picture, Box box, ImageView output);

}  // namespace fuelrail::hevc
