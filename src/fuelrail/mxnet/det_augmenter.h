// MXNet's detection augmenter: turns a decoded image into one of the size of data_shape, and
// changes the boxes of its label accordingly. The steps, in the order of docs/mxnet_detection.md:
// resize, colours, mirror, pad, crop, resize to data_shape.
//
// A label is a row of floats: header width (2 or more), object width (5 or more), further header
// values, then per object: class, left, top, right, bottom (as fractions of the image's sides) and
// further values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fuelrail/base/box.h"
#include "fuelrail/base/image_view.h"
#include "fuelrail/mxnet/det_label.h"
#include "fuelrail/mxnet/det_options.h"
#include "fuelrail/mxnet/draws.h"
#include "fuelrail/mxnet/picture.h"

namespace fuelrail::mxnet {

// Checks that a label has the form above. Errors: CorruptError for fewer than 7 numbers, and for
// widths that are not whole numbers, are too small or do not match the label's length.
void check_det_label(std::span<const float> label);

struct DetImage {
  ConstImageView image;  // of the size of data_shape
  Size used;             // the upper left part that has the picture; the rest is 0
};

// Reuses its memory and tables between calls. Threads: one augmenter per thread.
class DetAugmenter {
 public:
  // Errors: those of check(options, shape).
  DetAugmenter(const DetOptions& options, const MxShape& shape);

  // Replaces `label` with the label of the result, without objects that have no area (as MXNet).
  // Lifetime of the image: until the next call, and at most that of `decoded`. Requires:
  // decoded.channels == shape.channels; `decoded` is not empty. Errors: those of check_det_label;
  // InvalidArgumentError for an image that a parameter would make longer than kLongestSide.
  DetImage augment(ConstImageView decoded, std::vector<float>& label, Draws& draws);

 private:
  void resize(Size to, Draws& draws);
  void shorter_side(Draws& draws);
  void change_colours(Draws& draws);
  void mirror(Draws& draws);
  void pad(Draws& draws);
  void crop(Draws& draws);
  bool try_sampler(size_t sampler, Draws& draws);
  DetBox draw_crop(size_t sampler, Draws& draws) const;
  void fit(Draws& draws);
  DetImage placed();

  DetOptions options_;
  MxShape shape_;
  Picture picture_;
  DetLabel label_;
  std::vector<int> samplers_;  // in the order in which they are tried
};

// Number of values before the label in a row of the batch.
inline constexpr size_t kDetRowPrefix = 4;

// Writes the number of channels, the rows and columns in use, the label's length, the label, and
// then `pad_value` up to the end of `row`. Errors: InvalidArgumentError if the row is shorter than
// kDetRowPrefix + label.size().
void write_det_row(int64_t channels, Size used, std::span<const float> label, float pad_value,
                   std::span<float> row);

}  // namespace fuelrail::mxnet
