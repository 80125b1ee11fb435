// MXNet's detection augmenter: a decoded image and the boxes in it become an image of the shape
// that was asked for and the boxes as they lie there. In the order of docs/mxnet_detection.md:
// resize, colours, mirror, pad, crop, resize to the shape.
//
// A label is a row of floats: header width (2 or more), object width (5 or more), further header
// values, then per object: class, left, top, right, bottom (fractions of the image's sides), and
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

// Objects without area are dropped, as in MXNet. Errors: CorruptError for a label that is not as
// said above: shorter than 7 numbers, widths that are no whole numbers or do not fit.
void check_det_label(std::span<const float> label);

struct DetImage {
  ConstImageView image;  // of the shape
  Size used;             // its upper left part that shows something; the rest is 0
};

// Keeps its memory and tables between calls. Threads: one augmenter a thread.
class DetAugmenter {
 public:
  // Errors: those of check(options, shape).
  DetAugmenter(const DetOptions& options, const MxShape& shape);

  // `label` becomes the label of the result. Lifetime: of the image, until the next call, and as
  // long as `decoded`. Requires: decoded.channels == shape.channels, not empty. Errors: those of
  // check_det_label; InvalidArgumentError for an image that a parameter would make longer than
  // kLongestSide.
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
  std::vector<int> samplers_;  // in the order of their trials
};

// How many numbers stand before the label in a row of the batch.
inline constexpr size_t kDetRowPrefix = 4;

// Writes channels, rows and columns in use, length of the label, the label, and `pad_value` to the
// row's end. Errors: InvalidArgumentError when the row is shorter than kDetRowPrefix + the label.
void write_det_row(int64_t channels, Size used, std::span<const float> label, float pad_value,
                   std::span<float> row);

}  // namespace fuelrail::mxnet
