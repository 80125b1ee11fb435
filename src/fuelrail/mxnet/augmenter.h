// MXNet's default augmenter: a decoded image becomes one of the shape that was asked for. In the
// order of docs/mxnet_augmentation.md: resize, affine map, pad, crop, brightness, contrast and
// saturation, hue, lighting noise, the user's stages. Mirroring comes with the output (output.h).
// Every pixel equals MXNet 1.9.1's, and every random number is drawn in its place.
#pragma once

#include "fuelrail/base/box.h"
#include "fuelrail/base/image_view.h"
#include "fuelrail/mxnet/augment_options.h"
#include "fuelrail/mxnet/augment_plan.h"
#include "fuelrail/mxnet/draws.h"
#include "fuelrail/mxnet/picture.h"

namespace fuelrail::mxnet {

// Keeps its memory and tables between calls. Threads: one augmenter a thread.
class Augmenter {
 public:
  // Errors: those of check(options, shape).
  Augmenter(const AugmentOptions& options, const MxShape& shape);

  // Returns: shape.height x shape.width pixels of shape.channels, 8 bits, red first.
  // Lifetime: until the next call, and as long as `decoded` (whose own pixels they may be).
  // Requires: decoded.channels == shape.channels, not empty. Errors: InvalidArgumentError for an
  // image that is smaller than max_crop_size, and one that a parameter would make longer than
  // kLongestSide or empty; what a user's stage throws.
  ConstImageView augment(ConstImageView decoded, Draws& draws);

  // The same in two halves, so that only what is needed is decoded. First: draws what there is to
  // draw for an image of this size, and gives the box of it that will be looked at. Errors: as
  // above, but for the stages'.
  Box plan(Size image, Draws& draws);

  // Second: `decoded` holds the pixels of `box`, which contains what `plan` asked for. `draws` is
  // asked for nothing but `counted`.
  ConstImageView run(ConstImageView decoded, Box box, const Draws& draws);

 private:
  void change_geometry(Box held);
  void change_colours();
  void run_stages(const Draws& draws);

  AugmentOptions options_;
  MxShape shape_;
  AugmentPlan plan_;
  Size image_;  // that the plan is for
  Picture picture_;
};

}  // namespace fuelrail::mxnet
