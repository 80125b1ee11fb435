// The image that an augmenter works on: first a view of the caller's pixels, then in one of two
// buffers in turn. Private to the module.
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

// Reuses its memory and tables between images. Threads: one. Lifetime of the views that `view` and
// `own` return: until the next call that is not const.
class Picture {
 public:
  // Starts with `image`. Lifetime: its pixels must stay valid until the last call for this image.
  void begin(ConstImageView image);

  ConstImageView view() const { return view_; }
  Size size() const { return view_.size(); }

  // The pixels for changes in place. Copies the caller's pixels first.
  ImageView own();

  void resize(Size to, CvInterpolation interpolation);

  // Resizes by `step`, where the picture has the pixels of the box `held`. Requires: as
  // CvResizer::resize.
  void resize(Box held, const CvResizeStep& step);

  // Where the map leaves the result empty, alpha is 0 and the other channels are `fill`, because
  // MXNet passes a Scalar of three values to OpenCV.
  void warp(Size to, const CvAffine& affine, CvInterpolation interpolation, uint8_t fill);

  void crop(Box box);

  // Adds a border with `fill`, and alpha 0, as `warp`.
  void pad(const Margins& margins, uint8_t fill);

  // Mirrors left to right.
  void flip();

  // Replaces the picture with one of `size` and the same channels, which
  // make(ConstImageView from, ImageView to) computes from the present one.
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
  std::array<PixelBuffer, 2> planes_;  // only alpha, before and after a warp
  size_t turn_ = 0;                    // the buffer that holds the picture, if it is ours
  bool ours_ = false;
  ConstImageView view_;
  ImageView own_;
};

}  // namespace fuelrail::mxnet
