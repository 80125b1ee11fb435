// The transforms of a loader, as plain values in a list. They may be in any order, except that
// Normalize must be last. Names and meaning are those of torchvision.transforms on uint8 tensors.
// `resolve` (plan.h) decides what they do to one image.
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
// widened by the scale when the image shrinks. Without it (torchvision's filters on tensors), at
// any scale: bilinear = two neighbours in each direction, bicubic = four (Keys with a = -0.75,
// edges repeated). kNearest is Pillow's in both cases. kNearestExact is torch's nearest-exact,
// which masks use: it differs from Pillow's where rounding decides between two pixels, because
// torch computes in float32.
enum class Interpolation : uint8_t { kNearest, kBilinear, kBicubic, kNearestExact };

inline bool takes_nearest(Interpolation interpolation) {
  return interpolation == Interpolation::kNearest || interpolation == Interpolation::kNearestExact;
}

// The pixels beyond an image's edges: a colour; the edge pixels; the mirror image, which does not
// repeat the edge pixel (reflect: 3 2 | 1 2 3) or repeats it (symmetric: 2 1 | 1 2 3). Mirroring
// repeats as often as needed, as in numpy.pad.
enum class PaddingMode : uint8_t { kConstant, kEdge, kReflect, kSymmetric };

struct Border {
  PaddingMode mode = PaddingMode::kConstant;
  std::array<uint8_t, 3> fill{};  // red, green, blue; used by kConstant
  friend bool operator==(const Border&, const Border&) = default;
};

// Pixels to add on each side.
struct Margins {
  int64_t left = 0;
  int64_t top = 0;
  int64_t right = 0;
  int64_t bottom = 0;
};

// Crops a random area with a random aspect ratio and resizes it to `size`. As in torchvision, crops
// the middle after ten failed tries.
struct RandomResizedCrop {
  Size size;
  std::array<double, 2> scale{0.08, 1.0};             // area of the crop as a fraction of the image
  std::array<double, 2> ratio{3.0 / 4.0, 4.0 / 3.0};  // width / height
  Interpolation interpolation = Interpolation::kBilinear;
  bool antialias = true;
};

// Crops the middle; an image smaller than `size` is padded with black.
struct CenterCrop {
  Size size;
};

// Resizes to exactly `size`, or, if `shorter_side` is above 0, resizes the shorter side to that
// length and the longer side to int(shorter_side * longer / shorter). `max_size` bounds the longer
// side: if it would be longer, it becomes max_size, and the shorter side becomes int(max_size *
// shorter_side / longer). With only `max_size`, the longer side becomes max_size.
struct Resize {
  Size size{};
  int64_t shorter_side = 0;
  Interpolation interpolation = Interpolation::kBilinear;
  bool antialias = true;
  int64_t max_size = 0;  // 0: no bound
};

// Resizes the shorter side to a random one of `min_size`; the longer side is at most `max_size`.
// Both sides are rounded down, to at least 1 pixel.
struct RandomShortestSize {
  std::vector<int64_t> min_size;
  int64_t max_size = 0;  // 0: no bound
  Interpolation interpolation = Interpolation::kBilinear;
  bool antialias = true;
};

// Large scale jitter (Ghiasi et al.: "Simple Copy-Paste is a Strong Data Augmentation Method for
// Instance Segmentation"): resizes by a random factor of `scale_range` times the largest factor at
// which the image fits into `target`. Both sides are rounded down, to at least 1 pixel.
struct ScaleJitter {
  Size target;
  std::array<double, 2> scale_range{0.1, 2.0};
  Interpolation interpolation = Interpolation::kBilinear;
  bool antialias = true;
};

// Resize(shorter_side = resize) followed by CenterCrop(size), the usual transforms for validation.
struct ResizedCenterCrop {
  Size size;
  int64_t resize = 0;  // 0: round(max(size.height, size.width) / 0.875)
  Interpolation interpolation = Interpolation::kBilinear;
  bool antialias = true;
};

// Adds margins to the image.
struct Pad {
  Margins padding;
  Border border{};
};

// Adds margins and crops at a random place. With `pad_if_needed`, as in torchvision, an image that
// is still n pixels too narrow gets n more pixels on the left and n on the right; the same applies
// to its height, above and below. Without it, `resolve` throws for an image that is too small.
struct RandomCrop {
  Size size;
  Margins padding{};
  bool pad_if_needed = false;
  Border border{};
};

// With probability `p`, places the image at a random place of a larger one, whose sides are longer
// by a random factor of `side_range`.
struct RandomZoomOut {
  std::array<double, 2> side_range{1, 4};
  double p = 0.5;
  Border border{};
};

// The crop of SSD (Liu et al.: "SSD: Single Shot MultiBox Detector"): a random one whose
// intersection over union with an object's box is at least a random one of `sampler_options`. An
// option of 1 or more leaves the image as it is. iou_crop.h has the rules.
struct RandomIoUCrop {
  static constexpr int64_t kMostTrials = 500;
  std::array<double, 2> scale{0.3, 1.0};         // sides of the crop as fractions of the image's
  std::array<double, 2> aspect_ratio{0.5, 2.0};  // width / height
  std::vector<double> sampler_options{0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0};
  int64_t trials = 40;  // tries for one option
};

// Rotates counter-clockwise by a random angle in `degrees` about `center` (x, y in pixels; empty:
// the middle). With `expand` the result is large enough for the whole rotated image, and `center`
// has no effect. Interpolation is kNearest or kBilinear; the border is kConstant or kEdge.
struct RandomRotation {
  std::array<double, 2> degrees{};
  Interpolation interpolation = Interpolation::kNearest;
  bool expand = false;
  std::optional<std::array<double, 2>> center{};
  Border border{};
};

// Rotates clockwise, translates, scales and shears about `center`, and keeps the size. `translate`:
// the largest shifts in either direction, as fractions of width and height; shifts are whole
// pixels. `scale`: a range. `shear`: a range in degrees along x, then one along y.
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

// Changes brightness, contrast, saturation and hue by random factors in these ranges, in random
// order. A range of {1, 1} (hue: {0, 0}) leaves its property unchanged. Formulas: photometric.h.
struct ColorJitter {
  std::array<double, 2> brightness{1, 1};
  std::array<double, 2> contrast{1, 1};
  std::array<double, 2> saturation{1, 1};
  std::array<double, 2> hue{0, 0};  // in turns of the colour circle, within [-0.5, 0.5]
};

// Sets all three channels to the pixel's grey.
struct Grayscale {};
struct RandomGrayscale {
  double p = 0.1;
};

// A transform written by the user (pixel_stage.h).
struct CustomStage {
  std::shared_ptr<const PixelStage> stage;
};

// Computes (x / 255 - mean) / std for each channel in float32. A list has at most one, at its end.
struct Normalize {
  std::array<float, 3> mean{};
  std::array<float, 3> std{1, 1, 1};
};

using Transform =
    std::variant<RandomResizedCrop, CenterCrop, Resize, ResizedCenterCrop, Pad, RandomCrop,
                 RandomRotation, RandomAffine, HorizontalFlip, VerticalFlip, ColorJitter, Grayscale,
                 RandomGrayscale, CustomStage, Normalize, RandomShortestSize, ScaleJitter,
                 RandomZoomOut, RandomIoUCrop>;
using Transforms = std::vector<Transform>;

// Errors: InvalidArgumentError that names the transform, its index in the list and the value, for:
// sizes below 1 or above 2^15, probabilities outside [0, 1], empty or negative ranges, a std that
// is 0 or not finite, a Normalize that is not last, a CustomStage without a stage.
// InvalidArgumentError for more than kOperationsPerLeader transforms.
void check(const Transforms& transforms);

// The size of an image after `resize`. Requires: check has passed; image is not empty.
Size resized(const Resize& resize, Size image);

// The size that all images have after the transforms; empty if it depends on the image (no crop, or
// only a Resize of the shorter side) or on random numbers (a rotation that expands, a ScaleJitter).
std::optional<Size> output_size(const Transforms& transforms);

// Whether the transforms can only be resolved with the boxes of the image's objects: whether the
// list has a RandomIoUCrop.
bool needs_boxes(const Transforms& transforms);

// The Normalize of the list, if it has one.
std::optional<Normalize> normalization(const Transforms& transforms);

}  // namespace fuelrail
