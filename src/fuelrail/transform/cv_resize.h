// Resizing of 8-bit images, equal to OpenCV 4.8's `cv2.resize` bit for bit (without IPP, whose
// results differ), for programs whose pixels must equal those of MXNet or OpenCV. fuelrail's own
// loaders use resize.h, which equals Pillow.
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

// MXNet's interpolation 9: cubic if height and width both grow, area if both shrink, else linear.
CvInterpolation cv_auto_interpolation(Size from, Size to);

// The largest height or width of an input for interpolations that sum pixels. Up to this size, sums
// fit in 32 bits, coordinates in float32, and tables of weights in memory.
inline constexpr int64_t kCvLongestSide = int64_t{1} << 20;

// Resizes an image of size `input` to `output`, and computes the pixels of `window` in the result.
struct CvResizeStep {
  Size input;
  Size output;
  Box window;  // in pixels of `output`, inside it, not empty
  CvInterpolation interpolation = CvInterpolation::kLinear;
};

// The input pixels from which the step's window is computed: not empty, inside the input.
Box needed_input(const CvResizeStep& step);

// Keeps its tables and intermediate rows between calls. Threads: one resizer for each thread.
class CvResizer {
 public:
  CvResizer();
  ~CvResizer();
  CvResizer(CvResizer&&) noexcept;
  CvResizer& operator=(CvResizer&&) noexcept;

  // Resizes all of `from` to the size of `to`; copies it if the sizes are equal. Requires: neither
  // image is empty; both have the same number of channels, 1, 3 or 4; no overlap. Errors:
  // UnsupportedError for an input higher or wider than kCvLongestSide, unless the interpolation is
  // kNearest or the sizes are equal; std::bad_alloc.
  void resize(ConstImageView from, ImageView to, CvInterpolation interpolation);

  // Computes only the step's window, with the same pixels as in the whole result. `from` holds the
  // pixels of `from_box` (in the coordinates of the step's input), which must contain
  // needed_input(step). Requires: to.size() == step.window.size(), and as for the other `resize`.
  // Errors: as for the other `resize`.
  void resize(ConstImageView from, Box from_box, const CvResizeStep& step, ImageView to);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fuelrail
