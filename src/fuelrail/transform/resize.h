// Resampling of 8-bit RGB images, as Pillow does it (Resample.c of Pillow 10 to 13): horizontal
// pass to uint8, then vertical; weights in double, normalised, rounded to 22 bits of fixed point;
// each pass rounded and clipped. Integer arithmetic: every SIMD target and the portable one give
// the same bits.
#pragma once

#include <cstdint>
#include <memory>

#include "fuelrail/base/box.h"
#include "fuelrail/base/image_view.h"
#include "fuelrail/transform/geometry.h"

namespace fuelrail {

// Keeps its tables and its intermediate rows between calls. Threads: one resampler a thread.
class Resampler {
 public:
  Resampler();
  ~Resampler();
  Resampler(Resampler&&) noexcept;
  Resampler& operator=(Resampler&&) noexcept;

  // `input` holds the pixels of `input_box` (in the coordinates of the step's input), which
  // contains needed_input(step). Requires: to.size() == step.window.size(); 3 channels; no overlap.
  void resample(ConstImageView input, Box input_box, const ResampleStep& step, ImageView to);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fuelrail
