// One resampling: how pixels of an image become pixels of another one. Known from the image's size
// alone, before decoding.
#pragma once

#include <cstdint>
#include <optional>

#include "fuelrail/base/box.h"
#include "fuelrail/transform/transform.h"

namespace fuelrail {

// A part of an image whose corners may lie between pixels, in pixels from the image's corner.
struct Region {
  double top = 0;
  double left = 0;
  double height = 0;
  double width = 0;
  friend bool operator==(const Region&, const Region&) = default;
};

// The filter sees the pixels of `box` and nothing outside it; `box` scaled to `scaled` is the whole
// result, of which the pixels of `window` are made. Where `window` passes the edge of `scaled`, the
// result is continued as `border` says. box.size() == scaled: pixels are copied.
struct ResampleStep {
  Box box;
  Size scaled;
  Box window;  // in pixels of `scaled`; may begin below 0 and end beyond
  Interpolation interpolation = Interpolation::kBilinear;
  bool antialias = true;
  // Which end of `box` the filter starts to count from. Filter weights are rounded, and nearest
  // breaks ties upwards, so resampling a mirrored image is not quite mirroring the resampled one:
  // where a flip comes first, these make the result the mirror of resampling the mirrored box.
  bool mirror_horizontal = false;
  bool mirror_vertical = false;
  Border border{};
  // The part of `box` that becomes `scaled`, from the box's corner; absent: all of it.
  std::optional<Region> region{};
  bool copies() const { return box.size() == scaled && !region; }
  friend bool operator==(const ResampleStep&, const ResampleStep&) = default;
};

// The pixel of [0, length) that an image shows at `position`, which may lie outside.
// Requires: length > 0; mode is not kConstant.
int64_t continued(int64_t position, int64_t length, PaddingMode mode);

// The pixels of `scaled` that the window shows, borders included; empty (no height, no width) where
// it shows nothing but a constant border.
Box shown(const ResampleStep& step);

// The pixels of the step's input that its window needs: the footprint of what it shows plus the
// filter's support, cut at box; at least one pixel.
Box needed_input(const ResampleStep& step);

// --- Decoding at a fraction of the size ---

// JPEGs can be decoded at 1/8, 2/8 and 4/8 of their size for less work. The smallest of 1, 2, 4 and
// 8 eighths at which box is still at least as large as `scaled` in both directions; 8 where the
// step copies, enlarges or takes the nearest pixels.
int decode_eighths(const ResampleStep& step);

// The step that makes of an image of at_eighths(image, eighths) what `step` makes of the image:
// box becomes a region between pixels.
ResampleStep at_eighths(const ResampleStep& step, Size image, int eighths);

}  // namespace fuelrail
