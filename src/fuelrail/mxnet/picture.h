// The image that an augmenter works on. At first it is a view of the caller's pixels; each later
// step writes it to one of two buffers, which alternate. Private to the module.
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

// Reuses its memory and tables between images. Threads: one at a time. Lifetime of the views that
// `view` and `own` return: until the next call that is not const.
class Picture {
 public:
  // Starts a new picture as a view of `image`. Requires: the pixels of `image` stay valid until the
  // picture is no longer used.
  void begin(ConstImageView image);

  ConstImageView view() const { return view_; }
  Size size() const { return view_.size(); }

  // A writable view of the pixels. If they are still the caller's, they are copied first.
  ImageView own();

  void resize(Size to, CvInterpolation interpolation);

  // Runs `step` on an image of which the picture has only the pixels in the box `held`. Requires:
  // as for CvResizer::resize.
  void resize(Box held, const CvResizeStep& step);

  // Applies an affine map. Where the result shows no pixel of the image, alpha is 0 and the other
  // channels are `fill`, because MXNet passes only three values to OpenCV.
  void warp(Size to, const CvAffine& affine, CvInterpolation interpolation, uint8_t fill);

  void crop(Box box);

  // Adds a border, in which alpha is 0 and the other channels are `fill`.
  void pad(const Margins& margins, uint8_t fill);

  // Mirrors left to right.
  void flip();

  // Replaces the picture with one of `size` and the same number of channels. make(ConstImageView
  // from, ImageView to) computes the new pixels from the present ones.
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
  std::array<PixelBuffer, 2> planes_;  // the alpha channel alone, before and after a warp
  size_t turn_ = 0;                    // the buffer that holds the picture, if ours_
  bool ours_ = false;
  ConstImageView view_;
  ImageView own_;
};

}  // namespace fuelrail::mxnet
