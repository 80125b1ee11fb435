// MXNet's detection augmenter: turns a decoded image of any size into one of data_shape's size, and
// changes the boxes in its label accordingly. The steps, in the order of docs/mxnet_detection.md:
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
  ConstImageView image;  // has data_shape's size
  Size used;             // size of the picture at the upper left; all other pixels are 0
};

// Reuses its memory and tables between calls. Threads: one augmenter per thread.
class DetAugmenter {
 public:
  // Errors: those of check(options, shape).
  DetAugmenter(const DetOptions& options, const MxShape& shape);

  // Replaces `label` with the label of the result and, like MXNet, drops objects without area.
  // Lifetime of the returned image: until the next call, but not longer than the pixels of
  // `decoded`. Requires: decoded.channels == shape.channels; `decoded` is not empty. Errors: those
  // of check_det_label; InvalidArgumentError if a step would make a side longer than kLongestSide.
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

// Number of values before the label in a label row of a batch.
inline constexpr size_t kDetRowPrefix = 4;

// Writes a label row: the number of channels, used.height, used.width, the label's length, the
// label, then `pad_value` up to the end of `row`. Errors: InvalidArgumentError if the row is
// shorter than kDetRowPrefix + label.size().
void write_det_row(int64_t channels, Size used, std::span<const float> label, float pad_value,
                   std::span<float> row);

}  // namespace fuelrail::mxnet
