// MXNet's default augmenter: turns a decoded image of any size into one of data_shape's size. The
// steps, in the order of docs/mxnet_augmentation.md: resize, affine map, pad, crop, brightness,
// contrast and saturation, hue, lighting noise, user-defined stages. Mirroring is not among them:
// output.h does it. Every pixel equals MXNet 1.9.1's, and random numbers are drawn in MXNet's
// order.
#pragma once

#include "fuelrail/base/box.h"
#include "fuelrail/base/image_view.h"
#include "fuelrail/mxnet/augment_options.h"
#include "fuelrail/mxnet/augment_plan.h"
#include "fuelrail/mxnet/draws.h"
#include "fuelrail/mxnet/picture.h"

namespace fuelrail::mxnet {

// Reuses its memory and tables between calls. Threads: one augmenter per thread.
class Augmenter {
 public:
  // Errors: those of check(options, shape).
  Augmenter(const AugmentOptions& options, const MxShape& shape);

  // Returns: shape.height x shape.width pixels with shape.channels 8-bit channels, red first.
  // Lifetime: until the next call, but not longer than the pixels of `decoded`: the result may be a
  // view of them. Requires: decoded.channels == shape.channels; `decoded` is not empty. Errors:
  // InvalidArgumentError for an image smaller than max_crop_size, and if a step would make a side 0
  // or longer than kLongestSide; those of the user-defined stages.
  ConstImageView augment(ConstImageView decoded, Draws& draws);

  // The first half of `augment`. Callers that use the two halves need to decode only the pixels
  // that `run` reads. Draws the random numbers for an image of size `image`. Returns: the box of
  // the image that `run` reads. Errors: as for `augment`, except those of the stages.
  Box plan(Size image, Draws& draws);

  // The second half of `augment`, for the image of the last call of `plan`. `decoded` has the
  // image's pixels in `box`. Draws no words: only the stages use `draws`, through `counted`.
  // Returns: as `augment`. Requires: `box` contains the box that `plan` returned. Errors: those of
  // the stages.
  ConstImageView run(ConstImageView decoded, Box box, const Draws& draws);

 private:
  void change_geometry(Box held);
  void change_colours();
  void run_stages(const Draws& draws);

  AugmentOptions options_;
  MxShape shape_;
  AugmentPlan plan_;
  Size image_;  // the size of the image that plan_ is for
  Picture picture_;
};

}  // namespace fuelrail::mxnet
