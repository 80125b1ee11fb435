#include "fuelrail/transform/transform.h"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "fuelrail/base/error.h"

namespace fuelrail {
namespace {

constexpr int64_t kMaxSide = int64_t{1} << 15;

const char* name_of(const Transform& transform) {
  static constexpr const char* kNames[] = {"RandomResizedCrop", "CenterCrop",     "Resize",
                                           "ResizedCenterCrop", "HorizontalFlip", "VerticalFlip",
                                           "Normalize"};
  static_assert(std::size(kNames) == std::variant_size_v<Transform>);
  return kNames[transform.index()];
}

// Checks one transform; knows its place in the list, for the message.
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
    if (resize.shorter_side == 0) return require_size("size", resize.size);
    require_side("shorter_side", resize.shorter_side, 1);
    if (resize.size != Size{}) {
      fail("both size and shorter_side are given", "one of them", describe(resize.size));
    }
  }
  void operator()(const ResizedCenterCrop& crop) const {
    require_size("size", crop.size);
    require_side("resize", crop.resize, 0);
  }
  void operator()(const HorizontalFlip& flip) const { require_probability(flip.p); }
  void operator()(const VerticalFlip& flip) const { require_probability(flip.p); }
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
      fail("it is not the last transform", "Normalize at the end",
           fmt::format("{} after it", name_of(transforms_[place_ + 1])));
    }
  }

 private:
  [[noreturn]] void fail(const std::string& what, std::string expected, std::string found) const {
    throw InvalidArgumentError(
        fmt::format("transform {} ({}): {}", place_, name_of(transforms_[place_]), what),
        {.expected = std::move(expected), .found = std::move(found)});
  }

  static std::string number(double value) { return fmt::format("{}", value); }
  static std::string describe(Size size) {
    return fmt::format("height {}, width {}", size.height, size.width);
  }

  void require_side(const char* what, int64_t side, int64_t least) const {
    if (side >= least && side <= kMaxSide) return;
    fail(fmt::format("{} is out of range", what), fmt::format("{} to {} pixels", least, kMaxSide),
         fmt::format("{}", side));
  }
  void require_size(const char* what, Size size) const {
    const auto fits = [](int64_t side) { return side >= 1 && side <= kMaxSide; };
    if (fits(size.height) && fits(size.width)) return;
    fail(fmt::format("{} is out of range", what), fmt::format("1 to {} pixels a side", kMaxSide),
         describe(size));
  }
  void require_range(const char* what, const std::array<double, 2>& range,
                     bool zero_allowed) const {
    const bool low_fits = zero_allowed ? range[0] >= 0 : range[0] > 0;
    if (low_fits && range[0] <= range[1] && range[1] > 0 && std::isfinite(range[1])) return;
    fail(fmt::format("{} is no range", what),
         fmt::format("two finite numbers {} 0, the smaller one first",
                     zero_allowed ? "not below" : "above"),
         fmt::format("({}, {})", range[0], range[1]));
  }
  void require_probability(double p) const {
    if (p >= 0 && p <= 1) return;
    fail("p is no probability", "a number from 0 to 1", number(p));
  }

  const Transforms& transforms_;
  size_t place_;
};

}  // namespace

void check(const Transforms& transforms) {
  for (size_t i = 0; i < transforms.size(); ++i) std::visit(Checker(transforms, i), transforms[i]);
}

Size resized(const Resize& resize, Size image) {
  const int64_t side = resize.shorter_side;
  if (side == 0) return resize.size;
  // Whole division truncates as Python's int(side * longer / shorter) does: below 2^53 the nearest
  // double of a quotient is not a whole number unless the quotient is.
  return image.width <= image.height ? Size{side * image.height / image.width, side}
                                     : Size{side, side * image.width / image.height};
}

std::optional<Size> output_size(const Transforms& transforms) {
  std::optional<Size> size;
  for (const Transform& transform : transforms) {
    if (const auto* crop = std::get_if<RandomResizedCrop>(&transform)) size = crop->size;
    if (const auto* crop = std::get_if<CenterCrop>(&transform)) size = crop->size;
    if (const auto* crop = std::get_if<ResizedCenterCrop>(&transform)) size = crop->size;
    if (const auto* resize = std::get_if<Resize>(&transform)) {
      if (resize->shorter_side == 0) {
        size = resize->size;
      } else if (size) {
        size = resized(*resize, *size);
      }
    }
  }
  return size;
}

std::optional<Normalize> normalization(const Transforms& transforms) {
  if (transforms.empty()) return std::nullopt;
  const auto* normalize = std::get_if<Normalize>(&transforms.back());
  return normalize ? std::optional(*normalize) : std::nullopt;
}

}  // namespace fuelrail
