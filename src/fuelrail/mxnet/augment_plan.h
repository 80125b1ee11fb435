// What MXNet's default augmenter does to one image, decided from the image's size alone: every
// random number is drawn here, in MXNet's order, before a pixel is looked at. Private to the
// module.
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
  std::array<float, 3> factors{1, 1, 1};  // of these

  bool shift = false;
  std::array<int, 3> hls{};  // added to hue, lightness, saturation

  bool light = false;
  std::array<float, 3> rgb{};  // added to red, green, blue
};

struct AugmentPlan {
  std::vector<GeometryStep> geometry;  // its last step gives the shape's size
  ColourSteps colours;
};

// Puts the plan for an image of size `image` in the place of what `plan` was. Requires: checked
// options. Errors: InvalidArgumentError as Augmenter::augment says.
void plan_augmentation(const AugmentOptions& options, const MxShape& shape, Size image,
                       Draws& draws, AugmentPlan& plan);

// The part of the image that the plan looks at.
Box needed_pixels(const AugmentPlan& plan, Size image);

// MXNet's `inter_method` for one step; 10 takes a word, 9 goes by the sizes.
CvInterpolation choose_interpolation(int64_t inter_method, Size from, Size to, Draws& draws);

// The size that `resize` gives. Requires: an image that is not empty, resize > 0. Errors:
// InvalidArgumentError where the longer side would pass kLongestSide.
Size resized_shorter_side(Size image, int64_t resize);

}  // namespace fuelrail::mxnet
