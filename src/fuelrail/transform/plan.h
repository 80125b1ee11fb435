// What a list of transforms does to one image: decided from the image's size and its random
// numbers, before decoding.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "fuelrail/base/box.h"
#include "fuelrail/base/philox.h"
#include "fuelrail/transform/geometry.h"
#include "fuelrail/transform/pixel_stage.h"
#include "fuelrail/transform/transform.h"
#include "fuelrail/transform/warp.h"

namespace fuelrail {

struct FlipStep {
  bool horizontal = false;
  bool vertical = false;
};

// One change of colours; `amount` is the factor, or the turn of the hue.
struct ColorStep {
  enum class Kind : uint8_t { kBrightness, kContrast, kSaturation, kHue, kGrayscale };
  Kind kind = Kind::kBrightness;
  double amount = 1;
};

struct CustomStep {
  const PixelStage* stage = nullptr;
  StageRandom random;
  Size output;
};

// Something done to the pixels in memory.
using PixelStep = std::variant<ResampleStep, FlipStep, WarpStep, ColorStep, CustomStep>;

// `steps`, then `pixel_steps`, then the flips. Each step works on the result of the one before.
struct Plan {
  // The list's geometry up to the first transform that is no crop, resize, pad or flip: what they
  // need is all that must be decoded. At least one step.
  std::vector<ResampleStep> steps;
  std::vector<PixelStep> pixel_steps;
  bool flip_horizontal = false;
  bool flip_vertical = false;
  Size output;  // after everything
};

// Draws what is random (operation = kOperationsPerLeader * leader + the transform's index in the
// list: base/philox.h) and merges what can be merged: a crop or pad after a crop, a crop or pad
// after a resize, a resize after a crop. Flips commute to the end, or to the first step that they
// do not commute with (a warp, a stage of the user's). The pixels are those of applying one
// transform after the other. No libm: the same on every processor.
//
// Frozen draws (changing them changes users' epochs):
//   flips and RandomGrayscale   0
//   RandomResizedCrop           try t: 4t (area), 4t + 1 (aspect), 4t + 2 (top), 4t + 3 (left)
//   RandomCrop                  0 (top), 1 (left)
//   RandomRotation              0
//   RandomAffine                0 (angle), 1, 2 (translation in x, y), 3 (scale), 4, 5 (shear in x,
//   y) ColorJitter                 0, 1, 2 (order: entry i of brightness, contrast, saturation, hue
//   is
//                               swapped with one of those from i on), 3, 4, 5, 6 (the four factors)
//
// Requires: check(transforms) has passed; image is not empty. Lifetime: a plan with stages of the
// user's points at those of `transforms`.
// Errors: UnsupportedError where a step's result would have more than kMaxResizedPixels pixels (an
// extremely long image resized by its shorter side); InvalidArgumentError where an image is smaller
// than a RandomCrop that does not pad.
inline constexpr int64_t kMaxResizedPixels = 178'956'970;  // Pillow's limit for decoding
Plan resolve(const Transforms& transforms, Size image, const Philox& random);

// The same, keeping the memory of `plan`.
void resolve(const Transforms& transforms, Size image, const Philox& random, Plan& plan,
             uint32_t leader = 0);

}  // namespace fuelrail
