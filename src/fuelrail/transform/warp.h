// Turning, shearing and moving an image: affine maps of pixels.
#pragma once

#include <array>

#include "fuelrail/base/box.h"
#include "fuelrail/base/image_view.h"
#include "fuelrail/transform/transform.h"

namespace fuelrail {

// From an output pixel to the place in the input that it shows, both as (x, y) of pixel centres,
// counted from the middle of their image:
//   x' = m[0] x + m[1] y + m[2],  y' = m[3] x + m[4] y + m[5]
using Matrix = std::array<double, 6>;

// What torchvision's functional.rotate and functional.affine do to a tensor.
struct WarpStep {
  Size output;
  Matrix matrix{};
  Interpolation interpolation = Interpolation::kNearest;  // or kBilinear
  Border border{};                                        // kConstant or kEdge
};

// torchvision's _get_inverse_affine_matrix: the image is sheared, scaled and turned clockwise by
// `angle` about `center`, then moved by `translate`. Angles in degrees; center and translate are
// (x, y) in pixels, center from the middle of the image. Without libm.
// Requires: scale > 0; shear between -90 and 90 degrees.
struct AffineParameters {
  double angle = 0;
  std::array<double, 2> translate{};
  double scale = 1;
  std::array<double, 2> shear{};
  std::array<double, 2> center{};
};
Matrix inverse_affine(const AffineParameters& parameters);

// The size of an image turned by `matrix` about its middle, as torchvision's
// _compute_affine_output_size counts it.
Size expanded_size(const Matrix& matrix, Size image);

// Places are rounded to 2^-16 pixels. Bilinear as torch's grid_sample (align_corners=False) and
// torchvision's fill: ((sum of weight * pixel inside) - fill) * (sum of weights inside) + fill, in
// float32, rounded to the nearest, the even one of two. kEdge: grid_sample's padding "border". The
// same bits on every processor.
// Requires: to.size() == step.output; 3 channels; no overlap; PixelBuffer::kReadableBehind bytes
// may be read behind `from`.
void warp(ConstImageView from, const WarpStep& step, ImageView to);

}  // namespace fuelrail
