// Resampling of 8-bit RGB images, equal to Pillow 13's `img.crop(box).resize(size, filter)` bit for
// bit: weights are computed in double, normalised and rounded to fixed point with 22 bits; the
// results of the horizontal and the vertical pass are each rounded and clipped to uint8. As in
// Pillow 13, the vertical pass comes first if the number of rows decreases by more than max(0,
// twice the decrease in columns); Pillow 10 to 12 always begin with the horizontal pass. Without
// antialias, results are within 1 level of torch's interpolate on uint8 tensors. Integer arithmetic
// makes the results bit-identical on every SIMD target and on the portable one.
#pragma once

#include <memory>

#include "fuelrail/base/box.h"
#include "fuelrail/base/image_view.h"
#include "fuelrail/transform/geometry.h"

namespace fuelrail {

// Keeps its tables and intermediate rows between calls. Threads: one resampler for each thread.
class Resampler {
 public:
  Resampler();
  ~Resampler();
  Resampler(Resampler&&) noexcept;
  Resampler& operator=(Resampler&&) noexcept;

  // `input` holds the pixels of `input_box` (in the coordinates of the step's input), which must
  // contain needed_input(step). Requires: to.size() == step.window.size(); 3 channels; no overlap.
  void resample(ConstImageView input, Box input_box, const ResampleStep& step, ImageView to);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fuelrail
