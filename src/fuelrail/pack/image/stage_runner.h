// Applies lists of transforms, which by themselves work only on RGB, to images of 1, 3 or 4
// channels.
#pragma once

#include "fuelrail/base/image_view.h"
#include "fuelrail/base/philox.h"
#include "fuelrail/transform/pixel_buffer.h"
#include "fuelrail/transform/plan_runner.h"
#include "fuelrail/transform/transform.h"

namespace fuelrail::pack {

// Threads: one runner for each thread.
class StageRunner {
 public:
  // Applies the transforms as the comment on ImageStage describes. Requires: check(transforms) has
  // passed; no Normalize; as many readable bytes after the image as a PixelBuffer has.
  // Returns: an image with the same number of channels, valid until the next call, or the input.
  // Errors: those of `resolve`; UnsupportedError for a user's stage on four channels; errors that a
  // user's stage throws.
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
