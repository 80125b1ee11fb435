// A step that resamples an image. It depends only on the image's size, so it is known before
// decoding.
#pragma once

#include <cstdint>
#include <optional>

#include "fuelrail/base/box.h"
#include "fuelrail/transform/transform.h"

namespace fuelrail {

// A part of an image with fractional corners, in pixels from the image's upper left corner.
struct Region {
  double top = 0;
  double left = 0;
  double height = 0;
  double width = 0;
  friend bool operator==(const Region&, const Region&) = default;
};

// A box around an object: its upper left and lower right corners, in pixels from the image's upper
// left corner.
struct Corners {
  double x1 = 0;
  double y1 = 0;
  double x2 = 0;
  double y2 = 0;
  friend bool operator==(const Corners&, const Corners&) = default;
};

// Scales the pixels of `box` to an image of size `scaled`, without reading pixels outside `box`.
// The result of the step is the part `window` of that image; outside the image, the pixels are
// given by `border`. If box.size() == scaled, pixels are copied.
struct ResampleStep {
  Box box;
  Size scaled;
  Box window;  // in pixels of `scaled`; may extend beyond it on all sides
  Interpolation interpolation = Interpolation::kBilinear;
  bool antialias = true;
  // Whether the filter counts pixels from the right end (mirror_horizontal) or lower end
  // (mirror_vertical) of `box`. Filter weights are rounded, and nearest rounds ties up, so
  // resampling a mirrored image differs slightly from mirroring the resampled image. If a flip
  // comes before the step, these flags make the result exactly the mirror image of the resampled
  // mirrored box.
  bool mirror_horizontal = false;
  bool mirror_vertical = false;
  Border border{};
  // The part of `box` that becomes `scaled`, measured from the box's upper left corner; empty: the
  // whole box.
  std::optional<Region> region{};
  bool copies() const { return box.size() == scaled && !region; }
  friend bool operator==(const ResampleStep&, const ResampleStep&) = default;
};

// The index in [0, length) of the pixel shown at `position`, which may be outside [0, length).
// Requires: length > 0; mode is not kConstant.
int64_t continued(int64_t position, int64_t length, PaddingMode mode);

// The pixels of `scaled` that appear in the window, including those repeated or mirrored in its
// borders; empty (height or width 0) if the window shows only a constant border.
Box shown(const ResampleStep& step);

// The pixels of the step's input from which the window is computed: the pixels that the window
// shows plus the filter's support, limited to `box`; at least one pixel.
Box needed_input(const ResampleStep& step);

// --- Decoding at a fraction of the size ---

// A JPEG can be decoded at 1/8, 2/8 or 4/8 of its size with less work. Returns: the smallest of 1,
// 2, 4 and 8 eighths at which `box` is at least as large as `scaled` in both directions; 8 if the
// step copies, enlarges, takes the nearest pixel or has a region.
int decode_eighths(const ResampleStep& step);

// The step with the same result as `step`, for the image decoded at size at_eighths(image,
// eighths): the box becomes a region with fractional corners.
ResampleStep at_eighths(const ResampleStep& step, Size image, int eighths);

// --- Images of another size that show the same scene ---

// The step that gives `step`'s window for an image of size `other` in place of one of size `image`:
// the box becomes a region with fractional corners. Returns `step` itself if the sizes are equal.
// Requires: step has no region; `other` has at least one pixel.
ResampleStep for_size(const ResampleStep& step, Size image, Size other);

}  // namespace fuelrail
