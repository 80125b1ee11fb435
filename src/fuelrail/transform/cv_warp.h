// Affine maps of 8-bit images, equal to OpenCV 4.8's `cv2.warpAffine` bit for bit (without IPP),
// for programs whose pixels must equal those of MXNet or OpenCV. fuelrail's own loaders use warp.h,
// which equals torchvision.
#pragma once

#include <array>
#include <cstdint>

#include "fuelrail/base/image_view.h"
#include "fuelrail/transform/cv_resize.h"

namespace fuelrail {

// Maps a pixel (x, y) of the input to its coordinates in the output; pixel centres are integers:
//   x' = m[0] x + m[1] y + m[2],  y' = m[3] x + m[4] y + m[5]
// For a float32 matrix, the caller must round the numbers to float first.
struct CvAffine {
  std::array<double, 6> m{1, 0, 0, 0, 1, 0};
};

// cv2.warpAffine(from, matrix, size of `to`, flags=interpolation, borderMode=BORDER_CONSTANT,
// borderValue=(fill, fill, fill, fill)). As in OpenCV, kArea means kLinear, and with a singular
// matrix every output pixel shows the same input pixel. Threads: any. Requires: neither image is
// empty; height and width of `from` are below 32767; both images have the same number of channels,
// 1, 3 or 4; the matrix is finite; no overlap.
void cv_warp_affine(ConstImageView from, const CvAffine& affine, CvInterpolation interpolation,
                    uint8_t fill, ImageView to);

}  // namespace fuelrail
