// The transforms that a user names, as plain values in a list. Geometry first, pixels after;
// torchvision's names and meaning (torchvision.transforms, v2 API).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "fuelrail/base/box.h"

namespace fuelrail {

// With `antialias` (Pillow's filters): bilinear = triangle, bicubic = Keys with a = -0.5, both
// widened by the scale when the image shrinks. Without it (torchvision's on tensors): two or four
// neighbours whatever the scale, bicubic = Keys with a = -0.75 and repeated edges. Nearest is
// Pillow's, with or without.
enum class Interpolation : uint8_t { kNearest, kBilinear, kBicubic };

// A crop of random area and aspect ratio, resized to `size`. Ten tries, then a central crop: as
// torchvision's.
struct RandomResizedCrop {
  Size size;
  std::array<double, 2> scale{0.08, 1.0};             // area of the crop as a fraction of the image
  std::array<double, 2> ratio{3.0 / 4.0, 4.0 / 3.0};  // width / height
  Interpolation interpolation = Interpolation::kBilinear;
  bool antialias = true;
};

// The middle; an image smaller than `size` is padded with black.
struct CenterCrop {
  Size size;
};

// To exactly `size`, or, when `shorter_side` is above 0, so that the shorter side gets that length
// and the other one int(shorter_side * longer / shorter).
struct Resize {
  Size size{};
  int64_t shorter_side = 0;
  Interpolation interpolation = Interpolation::kBilinear;
  bool antialias = true;
};

// Resize(shorter_side = resize) followed by CenterCrop(size): the usual validation pair.
struct ResizedCenterCrop {
  Size size;
  int64_t resize = 0;  // 0: round(max(size.height, size.width) / 0.875)
  Interpolation interpolation = Interpolation::kBilinear;
  bool antialias = true;
};

struct HorizontalFlip {
  double p = 0.5;
};
struct VerticalFlip {
  double p = 0.5;
};

// (x / 255 - mean) / std, channel by channel, in float32. At most one, and last.
struct Normalize {
  std::array<float, 3> mean{};
  std::array<float, 3> std{1, 1, 1};
};

using Transform = std::variant<RandomResizedCrop, CenterCrop, Resize, ResizedCenterCrop,
                               HorizontalFlip, VerticalFlip, Normalize>;
using Transforms = std::vector<Transform>;

// Errors: InvalidArgumentError that names the transform, its place in the list and the value: sizes
// below 1 or above 2^15, probabilities outside [0, 1], empty or negative ranges, a std of 0 or not
// finite, a Normalize that is not last.
void check(const Transforms& transforms);

// The size that `resize` gives an image. Requires: check has passed; image is not empty.
Size resized(const Resize& resize, Size image);

// The size that every image comes out with, or empty when it depends on the image (no crop, or
// Resize to a shorter side only).
std::optional<Size> output_size(const Transforms& transforms);

// The Normalize of the list, if it has one.
std::optional<Normalize> normalization(const Transforms& transforms);

}  // namespace fuelrail
