// Runs a plan on a mask: an image whose pixels are numbers of classes or objects.
#pragma once

#include <cstdint>
#include <memory>

#include "fuelrail/base/box.h"
#include "fuelrail/base/raw_view.h"
#include "fuelrail/transform/plan.h"

namespace fuelrail {

// Keeps its memory between masks. Threads: one runner for each thread.
class MaskRunner {
 public:
  MaskRunner();
  ~MaskRunner();
  MaskRunner(MaskRunner&&) noexcept;
  MaskRunner& operator=(MaskRunner&&) noexcept;

  // Runs the whole plan, with its last flips. Every pixel is that of a pixel of the mask: the
  // nearest by the rule that torchvision calls NEAREST_EXACT. Where the plan has a constant
  // border, the pixel's bytes are the lowest bytes of `fill`; other borders repeat or mirror the
  // mask, as they do the image. `input` holds the pixels of `input_box`, which must contain
  // needed_input(plan.steps.front()).
  // Requires: `follow` made the plan for a mask; a pixel of `input` has 1 to 4 bytes, and `to` has
  // the same dtype and channels; to.size() == plan.output; no overlap.
  void run(const Plan& plan, ConstRawView input, Box input_box, uint32_t fill, RawView to);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fuelrail
