// MXNet's default augmenter: turns a decoded image into one of the size of data_shape. The steps,
// in the order of docs/mxnet_augmentation.md: resize, affine map, pad, crop, brightness, contrast
// and saturation, hue, lighting noise, user-defined stages. output.h does the mirroring. Every
// pixel equals MXNet 1.9.1's, and random numbers are drawn in MXNet's order.
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
  // Lifetime: until the next call, and at most that of `decoded`, because the result may be a view
  // of it. Requires: decoded.channels == shape.channels; `decoded` is not empty. Errors:
  // InvalidArgumentError for an image smaller than max_crop_size, and for one that a parameter
  // would make empty or longer than kLongestSide; those of the user-defined stages.
  ConstImageView augment(ConstImageView decoded, Draws& draws);

  // `augment` in two halves, so that only the needed pixels are decoded. First half: draws the
  // random numbers for an image of this size. Returns: the box of the image that `run` reads.
  // Errors: as `augment`, except those of the stages.
  Box plan(Size image, Draws& draws);

  // Second half. `decoded` has the pixels of `box`, which contains the box that `plan` returned.
  // Uses only `counted` of `draws`. Errors: those of the stages.
  ConstImageView run(ConstImageView decoded, Box box, const Draws& draws);

 private:
  void change_geometry(Box held);
  void change_colours();
  void run_stages(const Draws& draws);

  AugmentOptions options_;
  MxShape shape_;
  AugmentPlan plan_;
  Size image_;  // the size that plan_ is for
  Picture picture_;
};

}  // namespace fuelrail::mxnet
