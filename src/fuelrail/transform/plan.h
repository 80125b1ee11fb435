// The plan for one image: the steps that a list of transforms applies to it. It is made from the
// image's size and random numbers before decoding.
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

// One change of colours; `amount` is the factor, or the shift of the hue in turns.
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

// A step on decoded pixels in memory.
using PixelStep = std::variant<ResampleStep, FlipStep, WarpStep, ColorStep, CustomStep>;

// Runs `steps`, then `pixel_steps`, then the flips. Each step works on the result of the previous
// step.
struct Plan {
  // The crops, resizes, pads and flips before the first other transform. Only the pixels that they
  // need are decoded. There is at least one step.
  std::vector<ResampleStep> steps;
  std::vector<PixelStep> pixel_steps;
  bool flip_horizontal = false;
  bool flip_vertical = false;
  Size output;  // after all steps
};

// Draws the random numbers (operation = kOperationsPerLeader * leader + the transform's index in
// the list: base/philox.h) and merges steps if possible: a crop or pad after a crop, a crop or pad
// after a resize, a resize after a crop. Flips move to the end, or before the first step that does
// not commute with them (a warp, a custom stage). The pixels equal those of applying the transforms
// one by one. Uses no libm, so the plan is the same on every processor.
//
// These draws are frozen, because changing them would change users' epochs:
//   flips and RandomGrayscale   0
//   RandomResizedCrop           try t: 4t (area), 4t + 1 (aspect), 4t + 2 (top), 4t + 3 (left)
//   RandomCrop                  0 (top), 1 (left)
//   RandomRotation              0
//   RandomAffine                0 (angle), 1, 2 (shift in x, y), 3 (scale), 4, 5 (shear in x, y)
//   ColorJitter                 0, 1, 2 (order), 3, 4, 5, 6 (the four factors)
// The order of ColorJitter: draw i swaps entry i of (brightness, contrast, saturation, hue) with
// itself or a later entry.
//
// Requires: check(transforms) has passed; image is not empty. Lifetime: a plan with custom stages
// points to the stages of `transforms`.
// Errors: UnsupportedError if a step's result would have more than kMaxResizedPixels pixels (an
// extremely long image resized by its shorter side); InvalidArgumentError if the image is smaller
// than a RandomCrop without `pad_if_needed`.
inline constexpr int64_t kMaxResizedPixels = 178'956'970;  // Pillow's limit for decoding
Plan resolve(const Transforms& transforms, Size image, const Philox& random);

// As above, but reuses the memory of `plan`. `leader`: the number of the image field.
void resolve(const Transforms& transforms, Size image, const Philox& random, Plan& plan,
             uint32_t leader = 0);

}  // namespace fuelrail
