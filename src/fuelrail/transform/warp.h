// Affine maps of pixels: rotation, shear, scale and translation.
#pragma once

#include <array>

#include "fuelrail/base/box.h"
#include "fuelrail/base/image_view.h"
#include "fuelrail/base/raw_view.h"
#include "fuelrail/transform/transform.h"

namespace fuelrail {

// Maps an output pixel (x, y) to the input coordinates (x', y') that it shows. Both refer to pixel
// centres, relative to the middle of their image:
//   x' = m[0] x + m[1] y + m[2],  y' = m[3] x + m[4] y + m[5]
using Matrix = std::array<double, 6>;

// The operation of torchvision's functional.rotate and functional.affine on a tensor.
struct WarpStep {
  Size output;
  Matrix matrix{};
  Interpolation interpolation = Interpolation::kNearest;  // or kBilinear
  Border border{};                                        // kConstant or kEdge
};

// The parameters of torchvision's _get_inverse_affine_matrix: the image is sheared, scaled and
// rotated clockwise by `angle` about `center`, then moved by `translate`. Angles are in degrees;
// center and translate are (x, y) in pixels, center relative to the middle of the image. The matrix
// is computed without libm.
// Requires: scale > 0; shear between -90 and 90 degrees.
struct AffineParameters {
  double angle = 0;
  std::array<double, 2> translate{};
  double scale = 1;
  std::array<double, 2> shear{};
  std::array<double, 2> center{};
};
Matrix inverse_affine(const AffineParameters& parameters);

// The size of an image rotated by `matrix` about its middle, as computed by torchvision's
// _compute_affine_output_size.
Size expanded_size(const Matrix& matrix, Size image);

// Coordinates are rounded to 2^-16 pixels. Bilinear equals torch's grid_sample
// (align_corners=False) with torchvision's fill: ((sum of weight * pixel inside) - fill) * (sum of
// weights inside) + fill, in float32, rounded to nearest even. kEdge equals grid_sample's padding
// "border". Results are bit-identical on every processor. Requires: to.size() == step.output; 3
// channels; no overlap; PixelBuffer::kReadableBehind readable bytes after `from`.
void warp(ConstImageView from, const WarpStep& step, ImageView to);

// As `warp` with kNearest, for pixels of 1 to 4 bytes. Beyond the image, a pixel's bytes are the
// lowest bytes of `fill`. Requires: equal dtypes and channels; to.size() == step.output; no
// overlap.
void warp_nearest(ConstRawView from, const WarpStep& step, uint32_t fill, RawView to);

// Linear interpolation of float32 values, in double. An output pixel whose place is in the image is
// the mean of the four pixels around it, of which those beyond an edge are replaced by the edge's;
// any other is `fill`. Requires: as for warp_nearest.
void warp_linear(ConstRawView from, const WarpStep& step, float fill, RawView to);

}  // namespace fuelrail
