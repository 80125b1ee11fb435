// Resampling of 8-bit RGB images, equal to Pillow 13's `img.crop(box).resize(size, filter)` bit for
// bit: weights are computed in double, normalised and rounded to fixed point with 22 bits; a
// horizontal and a vertical pass are each rounded and clipped to uint8. The vertical pass comes
// first if rows lost > max(0, 2 * columns lost), as in Pillow 13; Pillow 10 to 12 always begin with
// the horizontal pass. Without antialias, results are within 1 level of torch's interpolate on
// uint8 tensors. Integer arithmetic gives the same bits on every SIMD target and on the portable
// one.
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
