// How pixels of the (upright) source become pixels of the output: decided from the image's size
// alone, before decoding.
#pragma once

#include <cstdint>
#include <vector>

#include "fuelrail/base/box.h"
#include "fuelrail/base/philox.h"
#include "fuelrail/transform/transform.h"

namespace fuelrail {

// One resampling. The filter sees the pixels of `box` and nothing outside it; `box` scaled to
// `scaled` is the whole result, of which the pixels of `window` are made. Where `window` passes the
// edge of `scaled`, the result is black (CenterCrop of a small image). box.size() == scaled: pixels
// are copied.
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
  bool copies() const { return box.size() == scaled; }
  friend bool operator==(const ResampleStep&, const ResampleStep&) = default;
};

struct Geometry {
  std::vector<ResampleStep> steps;  // each works on the result of the one before; at least one
  bool flip_horizontal = false;     // of the final result
  bool flip_vertical = false;
  Size output() const { return steps.back().window.size(); }
};

// Draws what is random (operation = the transform's index in the list) and merges what can be
// merged: a crop after a crop, a crop after a resize, a resize after a crop. Flips commute to the
// end. The pixels are those of applying one transform after the other. No libm: the same on every
// processor.
//
// Frozen draws (changing them changes users' epochs): a flip takes draw 0; try t of a
// RandomResizedCrop takes draws 4t (area), 4t + 1 (aspect), 4t + 2 (top), 4t + 3 (left).
//
// Requires: check(transforms) has passed; image is not empty.
// Errors: UnsupportedError where a step's result would have more than kMaxResizedPixels pixels (an
// extremely long image resized by its shorter side).
inline constexpr int64_t kMaxResizedPixels = 178'956'970;  // Pillow's limit for decoding
Geometry resolve(const Transforms& transforms, Size image, const Philox& random);

// The pixels of the step's input that its window needs: the window's footprint plus the filter's
// support, cut at box.
Box needed_input(const ResampleStep& step);

}  // namespace fuelrail
