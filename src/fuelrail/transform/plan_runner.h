// Runs a plan on decoded pixels.
#pragma once

#include "fuelrail/base/box.h"
#include "fuelrail/base/image_view.h"
#include "fuelrail/transform/pixel_buffer.h"
#include "fuelrail/transform/plan.h"
#include "fuelrail/transform/resize.h"

namespace fuelrail {

// Keeps its memory between images. Threads: one runner for each thread.
class PlanRunner {
 public:
  // Runs the plan except its last flips, which PixelWriter performs. `input` holds the pixels of
  // `input_box`, which must contain needed_input(plan.steps.front()).
  // Returns: an image of size plan.output, possibly `input` itself. Lifetime: until the next call.
  // Errors: those that custom stages throw.
  ConstImageView run(const Plan& plan, ConstImageView input, Box input_box);

 private:
  struct Apply;
  ImageView next(Size size) { return buffers_[current_ ^= 1].resize(size); }

  Resampler resampler_;
  PixelBuffer buffers_[2];
  int current_ = 0;
};

}  // namespace fuelrail
