// Runs lists of transforms, which know RGB alone, on images of 1, 3 or 4 channels.
#pragma once

#include "fuelrail/base/image_view.h"
#include "fuelrail/base/philox.h"
#include "fuelrail/transform/pixel_buffer.h"
#include "fuelrail/transform/plan_runner.h"
#include "fuelrail/transform/transform.h"

namespace fuelrail::pack {

// Threads: one runner a thread.
class StageRunner {
 public:
  // As ImageStage has it. Requires: check(transforms) has passed, and there is no Normalize; as
  // many readable bytes behind the image as PixelBuffer gives.
  // Returns: an image of the same channels, valid until the next call; or the input.
  // Errors: those of `resolve`; UnsupportedError for a stage of the user's on four channels; what
  // such a stage throws.
  ConstImageView run(const Transforms& transforms, ConstImageView image, const Philox& random);

 private:
  ConstImageView run_rgb(const Plan& plan, ConstImageView rgb, PixelBuffer& flipped);

  Plan plan_;
  PlanRunner runner_;
  PlanRunner alpha_runner_;
  PixelBuffer rgb_;
  PixelBuffer alpha_;
  PixelBuffer flipped_;
  PixelBuffer flipped_alpha_;
  PixelBuffer joined_;
};

}  // namespace fuelrail::pack
