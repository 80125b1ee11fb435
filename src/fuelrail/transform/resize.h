// Resampling of 8-bit RGB images, equal to Pillow 13's `img.crop(box).resize(size, filter)` to the
// bit: weights in double, normalised, rounded to 22 bits of fixed point; a horizontal and a
// vertical pass, each rounded and clipped to uint8. The vertical pass comes first where rows lost >
// max(0, 2 * columns lost), as it does since Pillow 13; Pillow 10 to 12 always begin with the
// horizontal one. Without antialias within 1 level of torch's interpolate on uint8 tensors. Integer
// arithmetic: every SIMD target and the portable one give the same bits.
#pragma once

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
