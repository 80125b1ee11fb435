// Resizing of 8-bit images equal to OpenCV 4.8's `cv2.resize` to the bit (without IPP, whose
// results differ): for programs whose pixels must be those of MXNet or OpenCV. resize.h is Pillow's
// and the product's own.
#pragma once

#include <cstdint>
#include <memory>

#include "fuelrail/base/box.h"
#include "fuelrail/base/image_view.h"

namespace fuelrail {

// The values of cv2.INTER_*.
enum class CvInterpolation : uint8_t {
  kNearest = 0,
  kLinear = 1,
  kCubic = 2,
  kArea = 3,
  kLanczos4 = 4,
};

// MXNet's rule 9: cubic where both sides grow, area where both shrink, else linear.
CvInterpolation cv_auto_interpolation(Size from, Size to);

// Where pixels are summed, no longer image is resized: sums of so many fit 32 bits, places among
// them float32, and the tables of their weights memory.
inline constexpr int64_t kCvLongestSide = int64_t{1} << 20;

// The pixels of `window` in what an image of size `input` becomes when it is resized to `output`.
struct CvResizeStep {
  Size input;
  Size output;
  Box window;  // in pixels of `output`, inside it, not empty
  CvInterpolation interpolation = CvInterpolation::kLinear;
};

// The pixels of the input that the step's window is made of: not empty, inside the input.
Box needed_input(const CvResizeStep& step);

// Keeps its tables and its intermediate rows between calls. Threads: one resizer a thread.
class CvResizer {
 public:
  CvResizer();
  ~CvResizer();
  CvResizer(CvResizer&&) noexcept;
  CvResizer& operator=(CvResizer&&) noexcept;

  // The whole of `from` to the size of `to`; equal sizes are copied. Requires: both not empty,
  // equal channels, 1, 3 or 4; no overlap. Errors: UnsupportedError for an input with a side above
  // kCvLongestSide, but not by kNearest or where sizes are equal; std::bad_alloc.
  void resize(ConstImageView from, ImageView to, CvInterpolation interpolation);

  // The step's window alone: the same pixels as those of the whole result, at the cost of the
  // window. `from` holds the pixels of `from_box` (in the coordinates of the step's input), which
  // contains needed_input(step). Requires: to.size() == step.window.size(); else as above, as
  // are the errors.
  void resize(ConstImageView from, Box from_box, const CvResizeStep& step, ImageView to);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fuelrail
