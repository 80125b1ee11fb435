// The image that an augmenter works on: a view at first, then in one of two pieces of memory that
// take turns. Private to the module.
#pragma once

#include <array>
#include <cstdint>

#include "fuelrail/base/box.h"
#include "fuelrail/base/image_view.h"
#include "fuelrail/transform/cv_resize.h"
#include "fuelrail/transform/cv_warp.h"
#include "fuelrail/transform/pixel_buffer.h"
#include "fuelrail/transform/transform.h"

namespace fuelrail::mxnet {

// Keeps its memory and tables between images. Threads: one. Lifetime of what `view` and `own` give:
// until the next call that is not const.
class Picture {
 public:
  // Starts with `image`, the caller's until the last call for it.
  void begin(ConstImageView image);

  ConstImageView view() const { return view_; }
  Size size() const { return view_.size(); }

  // For changes in place; the caller's pixels are copied first.
  ImageView own();

  void resize(Size to, CvInterpolation interpolation);

  // Requires: as CvResizer's; the picture holds the pixels of `held`.
  void resize(Box held, const CvResizeStep& step);

  // Alpha is 0 where the map leaves the result empty, the other channels are `fill`: the Scalar of
  // three values that MXNet gives to OpenCV.
  void warp(Size to, const CvAffine& affine, CvInterpolation interpolation, uint8_t fill);

  void crop(Box box);

  // `fill` and alpha as `warp`.
  void pad(const Margins& margins, uint8_t fill);

  // Exchanges left and right.
  void flip();

  // An image of `size` that the picture's last one, of 3 channels, was made into:
  // make(ConstImageView from, ImageView to).
  template <typename Make>
  void replace(Size size, Make make) {
    const ImageView to = other(size);
    make(view_, to);
    turn_to(to);
  }

 private:
  ImageView other(Size size);
  void turn_to(ImageView view);

  CvResizer resizer_;
  std::array<PixelBuffer, 2> buffers_;
  std::array<PixelBuffer, 2> planes_;  // alpha alone, before and after a warp
  size_t turn_ = 0;                    // the buffer that holds the picture, if it is ours
  bool ours_ = false;
  ConstImageView view_;
  ImageView own_;
};

}  // namespace fuelrail::mxnet
