// Runs lists of transforms, which know RGB alone, on images of 1, 3 or 4 channels.
#pragma once

#include <cstdint>
#include <vector>

#include "fuelrail/base/image_view.h"
#include "fuelrail/base/philox.h"
#include "fuelrail/transform/plan_runner.h"
#include "fuelrail/transform/transform.h"

namespace fuelrail {

// Memory for the pixels of one image, kept from image to image; what a giant took goes back with
// the next one of ordinary size.
class PixelMemory {
 public:
  // Rows without padding, and PixelBuffer::kReadableBehind readable bytes behind them.
  ImageView shape(Size size, int64_t channels);

 private:
  std::vector<uint8_t> memory_;
};

// Threads: one runner a thread.
class StageRunner {
 public:
  // As ImageStage has it. Requires: check(transforms) has passed, and there is no Normalize; as
  // many readable bytes behind the image as PixelMemory gives.
  // Returns: an image of the same channels, valid until the next call; or the input.
  // Errors: those of `resolve`; UnsupportedError for a stage of the user's on four channels; what
  // such a stage throws.
  ConstImageView run(const Transforms& transforms, ConstImageView image, const Philox& random);

 private:
  ConstImageView run_rgb(const Plan& plan, ConstImageView rgb, PixelMemory& flipped);

  Plan plan_;
  PlanRunner runner_;
  PlanRunner alpha_runner_;
  PixelMemory rgb_;
  PixelMemory alpha_;
  PixelMemory flipped_;
  PixelMemory flipped_alpha_;
  PixelMemory joined_;
};

}  // namespace fuelrail
