#include "fuelrail/transform/geometry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "fuelrail/base/error.h"
#include "fuelrail/transform/portable_math.h"
#include "fuelrail/transform/taps.h"

namespace fuelrail {
namespace {

int64_t rounded(double x) { return static_cast<int64_t>(round_half_even(x)); }

Box shifted(Box box, int64_t down, int64_t right) {
  return {box.top + down, box.left + right, box.height, box.width};
}

// Empty boxes come out with a height or width of 0 or less.
Box intersection(Box a, Box b) {
  const int64_t top = std::max(a.top, b.top);
  const int64_t left = std::max(a.left, b.left);
  return {top, left, std::min(a.bottom(), b.bottom()) - top, std::min(a.right(), b.right()) - left};
}

bool contains(Box outer, Box inner) {
  if (inner.height <= 0 || inner.width <= 0) return true;
  return inner.top >= outer.top && inner.left >= outer.left && inner.bottom() <= outer.bottom() &&
         inner.right() <= outer.right();
}

Box mirrored(Box box, Size image, bool horizontal, bool vertical) {
  if (horizontal) box.left = image.width - box.right();
  if (vertical) box.top = image.height - box.bottom();
  return box;
}

// The step that does `first` and then `second`, where one step can. `second` works on `first`'s
// result; its box and window are in the coordinates of that result.
std::optional<ResampleStep> merged(const ResampleStep& first, const ResampleStep& second) {
  if (second.copies()) {
    // Looks through the second window at the first one's scaled image. What the first window cuts
    // off (or the second box leaves out) must stay black.
    ResampleStep step = first;
    step.window = shifted(second.window, first.window.top + second.box.top,
                          first.window.left + second.box.left);
    const Box visible = shifted(intersection(second.box, whole(first.window.size())),
                                first.window.top, first.window.left);
    if (contains(visible, intersection(step.window, whole(first.scaled)))) return step;
  }
  if (first.copies()) {
    // Takes the second box out of the first one's input, unless padding lies inside.
    ResampleStep step = second;
    step.box =
        shifted(second.box, first.box.top + first.window.top, first.box.left + first.window.left);
    if (contains(first.box, step.box)) return step;
  }
  return std::nullopt;
}

// Applies transforms to a growing geometry. Boxes are given in the coordinates of the image as the
// user sees it, flips included, and turned back to the coordinates before the flips.
class Resolver {
 public:
  Resolver(Size image, const Philox& random) : image_(image), random_(random) {}

  void apply(const Transform& transform, uint32_t operation) {
    operation_ = operation;
    std::visit(*this, transform);
  }

  void operator()(const RandomResizedCrop& crop) {
    resample({.box = random_box(crop),
              .scaled = crop.size,
              .window = whole(crop.size),
              .interpolation = crop.interpolation,
              .antialias = crop.antialias});
  }
  void operator()(const CenterCrop& crop) {
    const Size size = current();
    resample({.box = whole(size), .scaled = size, .window = central(size, crop.size)});
  }
  void operator()(const Resize& resize) {
    const Size size = current();
    const Size to = resized(resize, size);
    resample({.box = whole(size),
              .scaled = to,
              .window = whole(to),
              .interpolation = resize.interpolation,
              .antialias = resize.antialias});
  }
  void operator()(const ResizedCenterCrop& crop) {
    const auto longer = static_cast<double>(std::max(crop.size.height, crop.size.width));
    const int64_t side = crop.resize > 0 ? crop.resize : rounded(longer / 0.875);
    const Size size = current();
    const Size to = resized({.shorter_side = side}, size);
    resample({.box = whole(size),
              .scaled = to,
              .window = central(to, crop.size),
              .interpolation = crop.interpolation,
              .antialias = crop.antialias});
  }
  void operator()(const HorizontalFlip& flip) { geometry_.flip_horizontal ^= happens(flip.p); }
  void operator()(const VerticalFlip& flip) { geometry_.flip_vertical ^= happens(flip.p); }
  void operator()(const Normalize&) {}

  Geometry finish() {
    if (geometry_.steps.empty()) {
      resample({.box = whole(image_), .scaled = image_, .window = whole(image_)});
    }
    for (const ResampleStep& step : geometry_.steps) require_affordable(step.window.size());
    return std::move(geometry_);
  }

 private:
  Size current() const { return geometry_.steps.empty() ? image_ : geometry_.output(); }
  bool happens(double p) const { return random_.uniform(operation_, 0) < p; }

  double uniform(uint32_t draw, double low, double high) const {
    return low + (high - low) * random_.uniform(operation_, draw);
  }
  int64_t below(uint32_t draw, int64_t bound) const {
    return static_cast<int64_t>(random_.below(operation_, draw, static_cast<uint64_t>(bound)));
  }

  // torchvision's RandomResizedCrop.get_params.
  Box random_box(const RandomResizedCrop& crop) const {
    const Size image = current();
    const auto area = static_cast<double>(image.height * image.width);
    const double low = portable_log(crop.ratio[0]);
    const double high = portable_log(crop.ratio[1]);
    for (uint32_t t = 0; t < 10; ++t) {
      const double target = area * uniform(4 * t, crop.scale[0], crop.scale[1]);
      const double aspect = portable_exp(uniform(4 * t + 1, low, high));
      const int64_t width = rounded(std::sqrt(target * aspect));
      const int64_t height = rounded(std::sqrt(target / aspect));
      if (width < 1 || width > image.width || height < 1 || height > image.height) continue;
      return {below(4 * t + 2, image.height - height + 1),
              below(4 * t + 3, image.width - width + 1), height, width};
    }
    return central_box(image, crop.ratio);
  }

  // The largest box in the middle whose aspect ratio is in range.
  static Box central_box(Size image, const std::array<double, 2>& ratio) {
    const auto height = static_cast<double>(image.height);
    const auto width = static_cast<double>(image.width);
    Size size = image;
    if (width / height < ratio[0]) {
      size.height = std::max<int64_t>(rounded(width / ratio[0]), 1);
    } else if (width / height > ratio[1]) {
      size.width = std::max<int64_t>(rounded(height * ratio[1]), 1);
    }
    return {(image.height - size.height) / 2, (image.width - size.width) / 2, size.height,
            size.width};
  }

  // torchvision's center_crop: pads what is smaller, the odd pixel at the end, then crops with the
  // odd pixel where Python's round puts it.
  static Box central(Size image, Size size) {
    const auto offset = [](int64_t length, int64_t part) {
      if (part > length) return -((part - length) / 2);
      return rounded(static_cast<double>(length - part) / 2.0);
    };
    return {offset(image.height, size.height), offset(image.width, size.width), size.height,
            size.width};
  }

  void resample(ResampleStep step) {
    const bool horizontal = geometry_.flip_horizontal;
    const bool vertical = geometry_.flip_vertical;
    step.box = mirrored(step.box, current(), horizontal, vertical);
    step.window = mirrored(step.window, step.scaled, horizontal, vertical);
    if (!step.copies()) {
      step.mirror_horizontal = horizontal;
      step.mirror_vertical = vertical;
    }
    if (!geometry_.steps.empty()) {
      if (const auto both = merged(geometry_.steps.back(), step)) {
        geometry_.steps.back() = *both;
        return;
      }
    }
    geometry_.steps.push_back(step);
  }

  static void require_affordable(Size size) {
    if (size.height <= kMaxResizedPixels / size.width) return;
    throw UnsupportedError("the resized image would be too large",
                           {.expected = fmt::format("at most {} pixels", kMaxResizedPixels),
                            .found = fmt::format("height {}, width {}", size.height, size.width),
                            .remedy = "Resize to an exact size, or crop before or after resizing"});
  }

  Size image_;
  const Philox& random_;
  uint32_t operation_ = 0;
  Geometry geometry_;
};

}  // namespace

Geometry resolve(const Transforms& transforms, Size image, const Philox& random) {
  Resolver resolver(image, random);
  for (uint32_t i = 0; i < transforms.size(); ++i) resolver.apply(transforms[i], i);
  return resolver.finish();
}

Box needed_input(const ResampleStep& step) {
  const Box visible = intersection(step.window, whole(step.scaled));
  if (visible.height <= 0 || visible.width <= 0) return {step.box.top, step.box.left, 0, 0};
  const Span rows = footprint(vertical_axis(step), {visible.top, visible.bottom()});
  const Span columns = footprint(horizontal_axis(step), {visible.left, visible.right()});
  return {step.box.top + rows.begin, step.box.left + columns.begin, rows.size(), columns.size()};
}

}  // namespace fuelrail
