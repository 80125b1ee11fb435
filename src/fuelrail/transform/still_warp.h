// Warps the planes of a still into an image of floats, as Benzina's pipeline does.
#pragma once

#include "fuelrail/base/box.h"
#include "fuelrail/base/planes.h"
#include "fuelrail/transform/still_parameters.h"

namespace fuelrail {

struct StillOptions {
  // Where a still ends. A frame also has the padding at the right and at the bottom. As in Benzina,
  // a pixel of the result is out of bounds if its centre is outside the centres of the frame's
  // outermost pixels. With kImage it is out of bounds if its centre is outside the visible image,
  // half a pixel further; there, the image's outermost pixels are repeated.
  enum class Bounds { kFrame, kImage };
  Bounds bounds = Bounds::kFrame;
  // Whether pixels of a smaller image are means over their area (still::grid_of). Benzina
  // interpolates between the four pixels that are nearest to the centre.
  bool antialias = false;
};

// Writes the image: red, green and blue as planes of `output` floats, row by row (still_pixels.h).
// The result is bit-identical on every processor. `visible` is the size of the image at the upper
// left of the planes.
// Requires: output has pixels; `visible` has pixels and is inside the luma plane; the sides of the
// planes are below 2^24; chroma planes have half the luma's size, rounded up, where the chroma is
// subsampled; 3 * height * width floats at `to`.
void warp_still(const Planes& still, Size visible, const StillParameters& parameters,
                const StillOptions& options, Size output, float* to);

}  // namespace fuelrail
