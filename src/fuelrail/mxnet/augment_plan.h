// The steps of MXNet's default augmenter for one image. They depend on the image's size, but not on
// its pixels: all random numbers are drawn here, in MXNet's order, before any pixel is read.
// Private to the module.
#pragma once

#include <array>
#include <cstdint>
#include <variant>
#include <vector>

#include "fuelrail/base/box.h"
#include "fuelrail/mxnet/augment_options.h"
#include "fuelrail/mxnet/draws.h"
#include "fuelrail/transform/cv_resize.h"
#include "fuelrail/transform/cv_warp.h"

namespace fuelrail::mxnet {

struct ResizeTo {
  Size to;
  CvInterpolation interpolation = CvInterpolation::kLinear;
};

struct WarpTo {
  Size to;
  CvAffine affine;
  CvInterpolation interpolation = CvInterpolation::kLinear;
};

struct PadBy {
  int64_t pixels = 0;  // on every side
};

struct CropTo {
  Box box;
};

using GeometryStep = std::variant<ResizeTo, WarpTo, PadBy, CropTo>;

struct ColourSteps {
  bool jitter = false;
  std::array<int, 3> order{0, 1, 2};      // 0 brightness, 1 contrast, 2 saturation
  std::array<float, 3> factors{1, 1, 1};  // of brightness, contrast, saturation

  bool shift = false;
  std::array<int, 3> hls{};  // added to hue, lightness, saturation

  bool light = false;
  std::array<float, 3> rgb{};  // added to red, green, blue
};

struct AugmentPlan {
  std::vector<GeometryStep> geometry;  // the last step's output has the size of data_shape
  ColourSteps colours;
};

// Replaces `plan` with the plan for an image of size `image`. Requires: `options` have passed
// `check`. Errors: InvalidArgumentError for the same images as Augmenter::augment.
void plan_augmentation(const AugmentOptions& options, const MxShape& shape, Size image,
                       Draws& draws, AugmentPlan& plan);

// The part of the image that the plan reads.
Box needed_pixels(const AugmentPlan& plan, Size image);

// The interpolation of one step. `inter_method` 9 chooses it by the two sizes, 10 chooses it at
// random and draws one number, and the other values name it directly.
CvInterpolation choose_interpolation(int64_t inter_method, Size from, Size to, Draws& draws);

// The image's size after `resize`. Requires: `image` is not empty, resize > 0. Errors:
// InvalidArgumentError if the longer side would exceed kLongestSide.
Size resized_shorter_side(Size image, int64_t resize);

}  // namespace fuelrail::mxnet
