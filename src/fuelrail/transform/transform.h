// The transforms that a user names, as plain values in a list, in any order; torchvision's names
// and meaning (torchvision.transforms, on uint8 tensors). `plan` (plan.h) says what they do to one
// image.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "fuelrail/base/box.h"
#include "fuelrail/transform/pixel_stage.h"

namespace fuelrail {

// With `antialias` (Pillow's filters): bilinear = triangle, bicubic = Keys with a = -0.5, both
// widened by the scale when the image shrinks. Without it (torchvision's on tensors): two or four
// neighbours whatever the scale, bicubic = Keys with a = -0.75 and repeated edges. Nearest is
// Pillow's, with or without.
enum class Interpolation : uint8_t { kNearest, kBilinear, kBicubic };

// What an image is continued with beyond its edges: a colour; its edge pixels; its mirror image
// without (reflect: 3 2 1 | 1 2 3 -> 3 2 | 1 2 3) or with (symmetric: 2 1 | 1 2 3) the edge pixels
// repeated. Mirror images go on as often as needed, as numpy.pad's do.
enum class PaddingMode : uint8_t { kConstant, kEdge, kReflect, kSymmetric };

struct Border {
  PaddingMode mode = PaddingMode::kConstant;
  std::array<uint8_t, 3> fill{};  // red, green, blue; for kConstant
  friend bool operator==(const Border&, const Border&) = default;
};

// Pixels to add on each side.
struct Margins {
  int64_t left = 0;
  int64_t top = 0;
  int64_t right = 0;
  int64_t bottom = 0;
};

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

// The image with margins.
struct Pad {
  Margins padding;
  Border border{};
};

// A crop at a random place of the image with margins. With `pad_if_needed` an image that is still
// too narrow (then: too low) by n pixels gets n more on both sides, as torchvision's does; without,
// it is an error when the image comes.
struct RandomCrop {
  Size size;
  Margins padding{};
  bool pad_if_needed = false;
  Border border{};
};

// Turned counter-clockwise by an angle in `degrees` about `center` (x, y in pixels; absent: the
// middle). With `expand` the result is as large as the turned image, and `center` has no effect.
// Interpolation is kNearest or kBilinear; the border is kConstant or kEdge.
struct RandomRotation {
  std::array<double, 2> degrees{};
  Interpolation interpolation = Interpolation::kNearest;
  bool expand = false;
  std::optional<std::array<double, 2>> center{};
  Border border{};
};

// Turned clockwise, moved, scaled and sheared about `center`, in the same size. `translate`: at
// most this fraction of the width and of the height, to either side, in whole pixels. `scale`: a
// range. `shear`: a range of degrees along x, and one along y.
struct RandomAffine {
  std::array<double, 2> degrees{};
  std::array<double, 2> translate{};
  std::array<double, 2> scale{1, 1};
  std::array<double, 4> shear{};
  Interpolation interpolation = Interpolation::kNearest;
  std::optional<std::array<double, 2>> center{};
  Border border{};
};

struct HorizontalFlip {
  double p = 0.5;
};
struct VerticalFlip {
  double p = 0.5;
};

// Brightness, contrast, saturation and hue changed by factors in these ranges, in random order. A
// range of {1, 1} (hue: {0, 0}) leaves its property alone. Formulas: photometric.h.
struct ColorJitter {
  std::array<double, 2> brightness{1, 1};
  std::array<double, 2> contrast{1, 1};
  std::array<double, 2> saturation{1, 1};
  std::array<double, 2> hue{0, 0};  // within [-0.5, 0.5]: turns of the colour circle
};

// Grey in all three channels.
struct Grayscale {};
struct RandomGrayscale {
  double p = 0.1;
};

// A class of the user's own (pixel_stage.h).
struct CustomStage {
  std::shared_ptr<const PixelStage> stage;
};

// (x / 255 - mean) / std, channel by channel, in float32. At most one, and last.
struct Normalize {
  std::array<float, 3> mean{};
  std::array<float, 3> std{1, 1, 1};
};

using Transform =
    std::variant<RandomResizedCrop, CenterCrop, Resize, ResizedCenterCrop, Pad, RandomCrop,
                 RandomRotation, RandomAffine, HorizontalFlip, VerticalFlip, ColorJitter, Grayscale,
                 RandomGrayscale, CustomStage, Normalize>;
using Transforms = std::vector<Transform>;

// Errors: InvalidArgumentError that names the transform, its place in the list and the value: sizes
// below 1 or above 2^15, probabilities outside [0, 1], empty or negative ranges, a std of 0 or not
// finite, a Normalize that is not last, a CustomStage without a stage; more than
// kOperationsPerLeader transforms.
void check(const Transforms& transforms);

// The size that `resize` gives an image. Requires: check has passed; image is not empty.
Size resized(const Resize& resize, Size image);

// The size that every image comes out with, or empty when it depends on the image (no crop, or
// Resize to a shorter side only) or on chance (a rotation that expands).
std::optional<Size> output_size(const Transforms& transforms);

// The Normalize of the list, if it has one.
std::optional<Normalize> normalization(const Transforms& transforms);

}  // namespace fuelrail
