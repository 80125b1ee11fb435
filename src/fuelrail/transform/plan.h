// The plan for one image: the steps that a list of transforms applies to it. It is made from the
// image's size and random numbers before decoding.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
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
  // For each of the boxes given to `resolve`: 1 if a RandomIoUCrop removed the object, because the
  // middle of its box is outside the crop. Empty: none.
  std::vector<uint8_t> removed;
};

// What `resolve` knows of an image.
struct PlanInputs {
  Size image;
  Philox random;
  uint32_t leader = 0;  // the number of the image field
  // The boxes of the objects in the image; a list with a RandomIoUCrop needs them.
  std::optional<std::span<const Corners>> boxes{};
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
//   RandomShortestSize          0 (which of min_size)
//   ScaleJitter                 0
//   RandomZoomOut               0 (whether), 1 (factor), 2 (left), 3 (top)
//   RandomIoUCrop               round r begins at b = r (1 + 4 trials): b (option); try t: b + 4t +
//   1
//                               (width), + 2 (height), + 3 (left), + 4 (top)
// The order of ColorJitter: draw i swaps entry i of (brightness, contrast, saturation, hue) with
// itself or a later entry.
//
// `plan` is replaced, and its memory reused.
//
// Requires: check(transforms) has passed; image is not empty. Lifetime: a plan with custom stages
// points to the stages of `transforms`.
// Errors: UnsupportedError if a step's result would have more than kMaxResizedPixels pixels (an
// extremely long image resized by its shorter side); InvalidArgumentError if the image is smaller
// than a RandomCrop without `pad_if_needed`, or if needs_boxes(transforms) and boxes are missing;
// UnsupportedError for a RandomIoUCrop after a custom stage that moves pixels.
inline constexpr int64_t kMaxResizedPixels = 178'956'970;  // Pillow's limit for decoding
void resolve(const Transforms& transforms, const PlanInputs& inputs, Plan& plan);
Plan resolve(const Transforms& transforms, const PlanInputs& inputs);

// Errors: UnsupportedError if the stage moves pixels: then nothing can move with its image.
void require_still(const CustomStep& step);

// --- Images that move with another ---

enum class Follower : uint8_t {
  kPartner,           // resampled as the leader, with its changes of colour
  kUncoloredPartner,  // without them
  kMask,              // numbers of classes or objects: takes the nearest pixel (kNearestExact)
  kMap,               // continuous values: linear interpolation; `move_vectors` turns vectors
};

// The plan for an image of size `other` that shows the same scene as the image of size `image` for
// which `leader` was resolved, and that moves with it. Both give an output of the same size.
// Requires: `leader` is not adapted to scaled decoding; `to` is another plan, which is replaced.
// Errors: CorruptError if the aspect ratios differ by more than a pixel; UnsupportedError for a
// custom stage that moves pixels.
void follow(const Plan& leader, Size image, Size other, Follower kind, Plan& to);

}  // namespace fuelrail
