// Benzina's warps: matrices that map each output pixel to the input pixel that it shows, and their
// random parameters.
//
// Source: the documentation of benzina.torch.operations and the results of Benzina 0.0.5. The
// results are computed without libm, so they are the same on every processor; as floats, they
// differ from Benzina's in the last bit at most. These defects of Benzina are fixed: a crop that
// does not fit is centred for one sample, not for all later ones; a rotated crop is as large as the
// box around its four corners, not as one of its diagonals.
#pragma once

#include <array>
#include <optional>

#include "fuelrail/base/box.h"
#include "fuelrail/benzina/random_state.h"

namespace fuelrail::benzina {

// A 3 x 3 matrix in row-major order. With (X, Y, Z) = m (x, y, 1), output pixel (x, y) shows the
// input at (X / Z, Y / Z). Pixel centres have integer coordinates.
using Homography = std::array<double, 9>;

constexpr Homography kIdentity = {1, 0, 0, 0, 1, 0, 0, 0, 1};

// The matrix product: an output pixel is mapped by `second`, then by `first`. So the image is
// warped by `first`, then by `second`.
Homography product(const Homography& first, const Homography& second);

// Errors: InvalidArgumentError if a number is not finite as a float, or if the matrix has no
// inverse.
void check_warp(const Homography& warp);

// A rectangle in an image: its centre, relative to that of the image, and its size, in pixels.
struct Crop {
  double x = 0, y = 0;
  double width = 0, height = 0;
};

struct AffineWarp {
  std::optional<Crop> crop{};  // Default: the centre of the image, in the output's size
  double degrees = 0;
  std::array<double, 2> translate{};  // (x, y) in output pixels
  bool flip_h = false, flip_v = false;
  bool resize = false;      // stretch the rotated crop to the output's size
  bool keep_ratio = false;  // with `resize`: by the smaller one of the two factors
};

// An output pixel is translated, measured from the centre of the output, scaled, rotated by
// (x cos - y sin, x sin + y cos), moved to the crop's centre, mirrored at the centre of the image,
// and measured from the image's first pixel.
// Errors: InvalidArgumentError for a size outside 1 to 2^31 - 1, an angle beyond +-10^9 degrees,
// and if the result is no valid warp.
Homography affine_matrix(Size image, Size output, const AffineWarp& warp);

// Intervals in which the parameters of a warp are drawn.
struct Similarity {
  std::array<double, 2> scale = {1, 1};          // of the image's area; drawn log-uniformly
  std::optional<std::array<double, 2>> ratio{};  // width / height of the crop; likewise
  std::array<double, 2> degrees{};
  std::array<double, 2> translate{};  // most, as a fraction of the output's width and height
  double flip_h = 0, flip_v = 0;      // probabilities
  bool resize = false;                // also set by a scale other than 1 and by a ratio
  bool keep_ratio = false;
  bool random_crop = false;
};

// Threads: all.
class SimilarityWarp {
 public:
  // Errors: InvalidArgumentError for a scale or ratio outside 10^-9 to 10^9, an angle beyond
  // +-10^9 degrees, and a translation or probability outside 0 to 1.
  explicit SimilarityWarp(const Similarity& intervals);

  // Draws, in this order: the scale; with a ratio, up to ten ratios, until the crop fits into the
  // image; with `random_crop`, the crop's centre, x and y; the angle; the translation, x and y;
  // whether to flip, horizontally and vertically. If none of the ten crops fits, the crop is the
  // largest central one whose ratio is in the interval, and its centre is not drawn.
  // Errors: as affine_matrix.
  Homography draw(Size image, Size output, RandomState& random) const;

 private:
  Crop draw_crop(Size image, Size output, RandomState& random) const;

  Similarity intervals_;
  std::array<double, 2> log_scale_{};
  std::array<double, 2> log_ratio_{};
};

}  // namespace fuelrail::benzina
