#include "fuelrail/transform/transform.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "fuelrail/base/error.h"
#include "fuelrail/base/philox.h"

namespace fuelrail {
namespace {

constexpr int64_t kMaxSide = int64_t{1} << 15;

const char* name_of(const Transform& transform) {
  static constexpr const char* kNames[] = {"RandomResizedCrop",  "CenterCrop",   "Resize",
                                           "ResizedCenterCrop",  "Pad",          "RandomCrop",
                                           "RandomRotation",     "RandomAffine", "HorizontalFlip",
                                           "VerticalFlip",       "ColorJitter",  "Grayscale",
                                           "RandomGrayscale",    "CustomStage",  "Normalize",
                                           "RandomShortestSize", "ScaleJitter",  "RandomZoomOut",
                                           "RandomIoUCrop"};
  static_assert(std::size(kNames) == std::variant_size_v<Transform>);
  return kNames[transform.index()];
}

// Checks one transform; `place` is its index in the list, for the error's text.
class Checker {
 public:
  Checker(const Transforms& transforms, size_t place) : transforms_(transforms), place_(place) {}

  void operator()(const RandomResizedCrop& crop) const {
    require_size("size", crop.size);
    require_range("scale", crop.scale, /*zero_allowed=*/true);
    require_range("ratio", crop.ratio, /*zero_allowed=*/false);
  }
  void operator()(const CenterCrop& crop) const { require_size("size", crop.size); }
  void operator()(const Resize& resize) const {
    require_side("max_size", resize.max_size, 0);
    if (resize.shorter_side == 0) {
      if (resize.max_size == 0) return require_size("size", resize.size);
      if (resize.size == Size{}) return;
      fail("max_size is given with a height and a width", "max_size with one number, or alone",
           describe(resize.size));
    }
    require_side("shorter_side", resize.shorter_side, 1);
    if (resize.size != Size{}) {
      fail("both size and shorter_side are given", "one of them", describe(resize.size));
    }
    if (resize.max_size > 0 && resize.max_size <= resize.shorter_side) {
      fail("max_size is too small", fmt::format("more than size, {}", resize.shorter_side),
           fmt::format("{}", resize.max_size));
    }
  }
  void operator()(const RandomShortestSize& shortest) const {
    require_side("max_size", shortest.max_size, 0);
    if (shortest.min_size.empty()) fail("min_size is empty", "at least one length", "none");
    for (const int64_t side : shortest.min_size) require_side("min_size", side, 1);
  }
  void operator()(const ScaleJitter& jitter) const {
    require_size("target_size", jitter.target);
    require_range("scale_range", jitter.scale_range, /*zero_allowed=*/false);
    require_at_most("scale_range", jitter.scale_range[1], static_cast<double>(kMaxSide));
  }
  void operator()(const RandomZoomOut& zoom) const {
    require_probability(zoom.p);
    require_range("side_range", zoom.side_range, /*zero_allowed=*/false);
    require_at_most("side_range", zoom.side_range[1], static_cast<double>(kMaxSide));
    if (zoom.side_range[0] < 1) {
      fail("side_range is out of range", "factors of at least 1", describe(zoom.side_range));
    }
  }
  void operator()(const RandomIoUCrop& crop) const {
    require_range("scale", crop.scale, /*zero_allowed=*/false);
    require_at_most("scale", crop.scale[1], 1);
    require_range("aspect_ratio", crop.aspect_ratio, /*zero_allowed=*/false);
    if (crop.sampler_options.empty()) {
      fail("sampler_options is empty", "at least one number", "none");
    }
    for (const double option : crop.sampler_options) {
      if (std::isfinite(option)) continue;
      fail("sampler_options is not finite", "finite numbers", number(option));
    }
    if (crop.trials < 1 || crop.trials > RandomIoUCrop::kMostTrials) {
      fail("trials is out of range", fmt::format("1 to {}", RandomIoUCrop::kMostTrials),
           fmt::format("{}", crop.trials));
    }
  }
  void operator()(const ResizedCenterCrop& crop) const {
    require_size("size", crop.size);
    require_side("resize", crop.resize, 0);
  }
  void operator()(const Pad& pad) const { require_margins(pad.padding); }
  void operator()(const RandomCrop& crop) const {
    require_size("size", crop.size);
    require_margins(crop.padding);
  }
  void operator()(const RandomRotation& rotation) const {
    require_warp(rotation.interpolation, rotation.border);
    require_angles("degrees", rotation.degrees);
    require_center(rotation.center);
  }
  void operator()(const RandomAffine& affine) const {
    require_warp(affine.interpolation, affine.border);
    require_angles("degrees", affine.degrees);
    require_angles("shear", {affine.shear[0], affine.shear[1]});
    require_angles("shear", {affine.shear[2], affine.shear[3]});
    for (const double angle : affine.shear) {
      if (std::fabs(angle) < 90) continue;
      fail("shear is out of range", "angles between -90 and 90 degrees", number(angle));
    }
    for (const double part : affine.translate) {
      if (part >= 0 && part <= 1) continue;
      fail("translate is out of range", "fractions of the image, from 0 to 1", number(part));
    }
    require_range("scale", affine.scale, /*zero_allowed=*/false);
    require_center(affine.center);
  }
  void operator()(const HorizontalFlip& flip) const { require_probability(flip.p); }
  void operator()(const VerticalFlip& flip) const { require_probability(flip.p); }
  void operator()(const ColorJitter& jitter) const {
    require_factors("brightness", jitter.brightness);
    require_factors("contrast", jitter.contrast);
    require_factors("saturation", jitter.saturation);
    if (!(jitter.hue[0] >= -0.5 && jitter.hue[0] <= jitter.hue[1] && jitter.hue[1] <= 0.5)) {
      fail("hue is invalid", "two numbers from -0.5 to 0.5, the smaller one first",
           describe(jitter.hue));
    }
  }
  void operator()(const Grayscale&) const {}
  void operator()(const RandomGrayscale& grayscale) const { require_probability(grayscale.p); }
  void operator()(const CustomStage& custom) const {
    if (!custom.stage)
      fail("the stage is missing", "an object of a subclass of PixelStage", "none");
  }
  void operator()(const Normalize& normalize) const {
    for (const float value : normalize.mean) {
      if (!std::isfinite(value)) fail("mean is not finite", "three finite numbers", number(value));
    }
    for (const float value : normalize.std) {
      if (!std::isfinite(value) || value == 0.0f) {
        fail("std is 0 or not finite", "three finite numbers other than 0", number(value));
      }
    }
    if (place_ + 1 != transforms_.size()) {
      fail("Normalize is not the last transform", "no transform after it",
           fmt::format("{} after it", name_of(transforms_[place_ + 1])));
    }
  }

 private:
  [[noreturn]] void fail(const std::string& what, std::string expected, std::string found) const {
    const std::string name = name_of(transforms_[place_]);
    const std::string which = transforms_.size() == 1 ? name : fmt::format("{} ({})", place_, name);
    throw InvalidArgumentError(fmt::format("transform {}: {}", which, what),
                               {.expected = std::move(expected), .found = std::move(found)});
  }

  static std::string number(double value) { return fmt::format("{}", value); }
  static std::string describe(Size size) {
    return fmt::format("height {}, width {}", size.height, size.width);
  }

  static std::string describe(const std::array<double, 2>& range) {
    return fmt::format("({}, {})", range[0], range[1]);
  }

  void require_margins(const Margins& margins) const {
    for (const int64_t side : {margins.left, margins.top, margins.right, margins.bottom}) {
      require_side("padding", side, 0);
    }
  }
  void require_warp(Interpolation interpolation, const Border& border) const {
    if (interpolation != Interpolation::kNearest && interpolation != Interpolation::kBilinear) {
      fail("interpolation is not supported", "nearest or bilinear",
           interpolation == Interpolation::kBicubic ? "bicubic" : "nearest-exact");
    }
    if (border.mode != PaddingMode::kConstant && border.mode != PaddingMode::kEdge) {
      fail("padding_mode is not supported", "constant or edge", "reflect or symmetric");
    }
  }
  void require_angles(const char* what, const std::array<double, 2>& range) const {
    constexpr double kMost = 1e6;
    if (range[0] >= -kMost && range[0] <= range[1] && range[1] <= kMost) return;
    fail(fmt::format("{} is invalid", what),
         fmt::format("two angles in degrees from -{0} to {0}, the smaller one first", kMost),
         describe(range));
  }
  void require_center(const std::optional<std::array<double, 2>>& center) const {
    constexpr double kMost = 1e6;
    if (!center || (std::fabs((*center)[0]) <= kMost && std::fabs((*center)[1]) <= kMost)) return;
    fail("center is out of range", fmt::format("x and y in pixels, from -{0} to {0}", kMost),
         describe(*center));
  }
  void require_factors(const char* what, const std::array<double, 2>& range) const {
    if (range[0] >= 0 && range[0] <= range[1] && std::isfinite(range[1])) return;
    fail(fmt::format("{} is invalid", what),
         "two finite numbers, both at least 0, the smaller one first", describe(range));
  }
  void require_side(const char* what, int64_t side, int64_t least) const {
    if (side >= least && side <= kMaxSide) return;
    fail(fmt::format("{} is out of range", what), fmt::format("{} to {} pixels", least, kMaxSide),
         fmt::format("{}", side));
  }
  void require_at_most(const char* what, double value, double most) const {
    if (value <= most) return;
    fail(fmt::format("{} is out of range", what), fmt::format("at most {}", most), number(value));
  }
  void require_size(const char* what, Size size) const {
    const auto fits = [](int64_t side) { return side >= 1 && side <= kMaxSide; };
    if (fits(size.height) && fits(size.width)) return;
    fail(fmt::format("{} is out of range", what),
         fmt::format("a height and width of 1 to {} pixels", kMaxSide), describe(size));
  }
  void require_range(const char* what, const std::array<double, 2>& range,
                     bool zero_allowed) const {
    const bool low_fits = zero_allowed ? range[0] >= 0 : range[0] > 0;
    if (low_fits && range[0] <= range[1] && range[1] > 0 && std::isfinite(range[1])) return;
    fail(fmt::format("{} is invalid", what),
         fmt::format("two finite numbers, both {} 0, the smaller one first",
                     zero_allowed ? "at least" : "above"),
         describe(range));
  }
  void require_probability(double p) const {
    if (p >= 0 && p <= 1) return;
    fail("p is out of range", "a number from 0 to 1", number(p));
  }

  const Transforms& transforms_;
  size_t place_;
};

}  // namespace

void check(const Transforms& transforms) {
  // More transforms would share random numbers with the next leader.
  if (transforms.size() > kOperationsPerLeader) {
    throw InvalidArgumentError("the list has too many transforms",
                               {.expected = fmt::format("at most {}", kOperationsPerLeader),
                                .found = fmt::format("{}", transforms.size())});
  }
  for (size_t i = 0; i < transforms.size(); ++i) std::visit(Checker(transforms, i), transforms[i]);
}

Size resized(const Resize& resize, Size image) {
  if (resize.shorter_side == 0 && resize.max_size == 0) return resize.size;
  const bool upright = image.width <= image.height;
  const int64_t shorter = upright ? image.width : image.height;
  const int64_t longer = upright ? image.height : image.width;
  // Integer division equals Python's int(side * longer / shorter): below 2^53, the double nearest
  // to a quotient is an integer only if the quotient is one.
  int64_t to_shorter = resize.shorter_side;
  int64_t to_longer = to_shorter * longer / shorter;
  if (to_shorter == 0) {
    to_longer = resize.max_size;
    to_shorter = std::max<int64_t>(to_longer * shorter / longer, 1);
  } else if (resize.max_size > 0 && to_longer > resize.max_size) {
    to_shorter = std::max<int64_t>(resize.max_size * to_shorter / to_longer, 1);
    to_longer = resize.max_size;
  }
  return upright ? Size{to_longer, to_shorter} : Size{to_shorter, to_longer};
}

bool needs_boxes(const Transforms& transforms) {
  return std::any_of(transforms.begin(), transforms.end(), [](const Transform& transform) {
    return std::holds_alternative<RandomIoUCrop>(transform);
  });
}

namespace {

// Computes the size after a transform from the size before it, if that is known.
class OutputSize {
 public:
  explicit OutputSize(std::optional<Size> before) : before_(before) {}

  std::optional<Size> operator()(const RandomResizedCrop& crop) const { return crop.size; }
  std::optional<Size> operator()(const CenterCrop& crop) const { return crop.size; }
  std::optional<Size> operator()(const ResizedCenterCrop& crop) const { return crop.size; }
  std::optional<Size> operator()(const RandomCrop& crop) const { return crop.size; }
  std::optional<Size> operator()(const Resize& resize) const {
    if (resize.size != Size{}) return resize.size;
    if (!before_) return std::nullopt;
    return resized(resize, *before_);
  }
  std::optional<Size> operator()(const Pad& pad) const {
    if (!before_) return std::nullopt;
    return Size{before_->height + pad.padding.top + pad.padding.bottom,
                before_->width + pad.padding.left + pad.padding.right};
  }
  std::optional<Size> operator()(const RandomRotation& rotation) const {
    if (rotation.expand) return std::nullopt;
    return before_;
  }
  std::optional<Size> operator()(const RandomShortestSize&) const { return std::nullopt; }
  std::optional<Size> operator()(const ScaleJitter&) const { return std::nullopt; }
  std::optional<Size> operator()(const RandomZoomOut&) const { return std::nullopt; }
  std::optional<Size> operator()(const RandomIoUCrop&) const { return std::nullopt; }
  std::optional<Size> operator()(const CustomStage& custom) const {
    if (!before_) return std::nullopt;
    return custom.stage->output_size(*before_);
  }
  template <typename SameSize>
  std::optional<Size> operator()(const SameSize&) const {
    return before_;
  }

 private:
  std::optional<Size> before_;
};

}  // namespace

std::optional<Size> output_size(const Transforms& transforms) {
  std::optional<Size> size;
  for (const Transform& transform : transforms) size = std::visit(OutputSize(size), transform);
  return size;
}

std::optional<Normalize> normalization(const Transforms& transforms) {
  if (transforms.empty()) return std::nullopt;
  const auto* normalize = std::get_if<Normalize>(&transforms.back());
  return normalize ? std::optional(*normalize) : std::nullopt;
}

}  // namespace fuelrail
