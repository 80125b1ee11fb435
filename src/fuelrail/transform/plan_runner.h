// Does what a plan says to decoded pixels.
#pragma once

#include "fuelrail/base/box.h"
#include "fuelrail/base/image_view.h"
#include "fuelrail/transform/pixel_buffer.h"
#include "fuelrail/transform/plan.h"
#include "fuelrail/transform/resize.h"

namespace fuelrail {

// Keeps its memory between images. Threads: one runner a thread.
class PlanRunner {
 public:
  // All of the plan but its last flips, which PixelWriter does. `input` holds the pixels of
  // `input_box`, which contains needed_input(plan.steps.front()).
  // Returns: plan.output pixels. Lifetime: until the next call; `input` may be what is returned.
  // Errors: what stages of the user's throw.
  ConstImageView run(const Plan& plan, ConstImageView input, Box input_box);

 private:
  struct Apply;
  ImageView next(Size size) { return buffers_[current_ ^= 1].resize(size); }

  Resampler resampler_;
  PixelBuffer buffers_[2];
  int current_ = 0;
};

}  // namespace fuelrail
