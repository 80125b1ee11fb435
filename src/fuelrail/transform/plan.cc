#include "fuelrail/transform/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/transform/coordinates.h"
#include "fuelrail/transform/iou_crop.h"
#include "fuelrail/transform/portable_math.h"

namespace fuelrail {
namespace {

int64_t rounded(double x) { return static_cast<int64_t>(round_half_even(x)); }

Box shifted(Box box, int64_t down, int64_t right) {
  return {box.top + down, box.left + right, box.height, box.width};
}

// If the boxes do not overlap, the result's height or width is 0 or less.
Box intersection(Box a, Box b) {
  const int64_t top = std::max(a.top, b.top);
  const int64_t left = std::max(a.left, b.left);
  return {top, left, std::min(a.bottom(), b.bottom()) - top, std::min(a.right(), b.right()) - left};
}

bool covers(Box outer, Box inner) {
  return inner.height <= 0 || inner.width <= 0 || outer.contains(inner);
}

Box mirrored(Box box, Size image, bool horizontal, bool vertical) {
  if (horizontal) box.left = image.width - box.right();
  if (vertical) box.top = image.height - box.bottom();
  return box;
}

bool pads(const ResampleStep& step) { return !covers(whole(step.scaled), step.window); }

// Whether `second`, which only copies, can take its pixels directly from `first`'s scaled image, in
// which it shows `window`: the pixels outside that image must equal those of second's border.
bool looks_through(const ResampleStep& first, const ResampleStep& second, Box window) {
  if (!pads(second)) return true;
  const Box visible = shifted(intersection(second.box, whole(first.window.size())),
                              first.window.top, first.window.left);
  if (pads(first) && second.border != first.border) return false;
  if (second.border.mode != PaddingMode::kConstant) {
    return !pads(first) && visible == whole(first.scaled);
  }
  // Pixels that the first window (or the second box) cuts off must remain border.
  return covers(visible, intersection(window, whole(first.scaled)));
}

// The single step that equals `first` followed by `second`; empty if there is none. The box and
// window of `second` are in the coordinates of first's result.
std::optional<ResampleStep> merged(const ResampleStep& first, const ResampleStep& second) {
  if (second.copies()) {
    ResampleStep step = first;
    step.window = shifted(second.window, first.window.top + second.box.top,
                          first.window.left + second.box.left);
    if (pads(second)) step.border = second.border;
    if (looks_through(first, second, step.window)) return step;
  }
  if (first.copies()) {
    // Takes the second box directly from the first one's input, unless it includes padding.
    ResampleStep step = second;
    step.box =
        shifted(second.box, first.box.top + first.window.top, first.box.left + first.window.left);
    if (covers(first.box, step.box)) return step;
  }
  return std::nullopt;
}

// The aspect ratios are equal to a pixel of either image.
void require_same_aspect(Size image, Size other) {
  if (other.height > 0 && other.width > 0 && same_aspect(image, other)) return;
  const auto text = [](Size size) {
    return fmt::format("height {}, width {}", size.height, size.width);
  };
  throw CorruptError(
      "a mask, map or partner image has another aspect ratio than its image",
      {.expected = fmt::format("the ratio of {}", text(image)), .found = text(other)});
}

Interpolation filter_of(Follower kind, Interpolation listed) {
  switch (kind) {
    case Follower::kPartner:
    case Follower::kUncoloredPartner:
      return listed;
    case Follower::kMask:
      return Interpolation::kNearestExact;
    case Follower::kMap:
      break;
  }
  return Interpolation::kBilinear;
}

// Adds transforms to a plan. Boxes are given in the coordinates of the image after the flips so
// far, and converted to the coordinates before these flips.
class Resolver {
 public:
  Resolver(const PlanInputs& inputs, Plan& plan)
      : inputs_(inputs), image_(inputs.image), random_(inputs.random), plan_(plan) {
    plan_.steps.clear();
    plan_.pixel_steps.clear();
    plan_.flip_horizontal = plan_.flip_vertical = false;
    plan_.output = image_;
    plan_.removed.clear();
  }

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
  void operator()(const Resize& resize) { scale(resized(resize, current()), resize); }
  void operator()(const RandomShortestSize& shortest) {
    const Size size = current();
    const auto choices = static_cast<int64_t>(shortest.min_size.size());
    const auto side =
        static_cast<double>(shortest.min_size[static_cast<size_t>(below(0, choices))]);
    double factor = side / static_cast<double>(std::min(size.height, size.width));
    if (shortest.max_size > 0) {
      factor = std::min(factor, static_cast<double>(shortest.max_size) /
                                    static_cast<double>(std::max(size.height, size.width)));
    }
    scale(times(size, factor), shortest);
  }
  void operator()(const ScaleJitter& jitter) {
    const Size size = current();
    const double fit =
        std::min(static_cast<double>(jitter.target.height) / static_cast<double>(size.height),
                 static_cast<double>(jitter.target.width) / static_cast<double>(size.width));
    const double factor = uniform(0, jitter.scale_range[0], jitter.scale_range[1]);
    scale(times(size, fit * factor), jitter);
  }
  void operator()(const RandomZoomOut& zoom) {
    if (!happens(zoom.p)) return;
    const Size size = current();
    const Size canvas = times(size, uniform(1, zoom.side_range[0], zoom.side_range[1]));
    const auto part = [&](uint32_t draw, int64_t room) {
      return static_cast<int64_t>(static_cast<double>(room) * uniform(draw, 0, 1));
    };
    const int64_t left = part(2, canvas.width - size.width);
    const int64_t top = part(3, canvas.height - size.height);
    pad({.left = left,
         .top = top,
         .right = canvas.width - size.width - left,
         .bottom = canvas.height - size.height - top},
        zoom.border);
  }
  void operator()(const RandomIoUCrop& crop) {
    if (!inputs_.boxes) {
      throw InvalidArgumentError(
          "RandomIoUCrop needs the boxes of the objects in the image",
          {.remedy = "Load a dataset with boxes, or use RandomResizedCrop or RandomCrop"});
    }
    Motion motion(plan_, image_);
    const auto& boxes = *inputs_.boxes;
    plan_.removed.resize(boxes.size());
    std::vector<Corners> objects;  // those that are still visible
    std::vector<size_t> places;
    for (size_t i = 0; i < boxes.size(); ++i) {
      if (plan_.removed[i] != 0) continue;
      const std::optional<Corners> object = motion.move(boxes[i]);
      if (!object) continue;
      objects.push_back(*object);
      places.push_back(i);
    }
    const std::optional<Box> window =
        draw_iou_crop(crop, current(), objects, StageRandom(random_, operation_));
    if (!window) return;
    for (size_t i = 0; i < objects.size(); ++i) {
      if (!holds_middle(*window, objects[i])) plan_.removed[places[i]] = 1;
    }
    resample({.box = whole(current()), .scaled = current(), .window = *window});
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
  void operator()(const Pad& pad) { this->pad(pad.padding, pad.border); }
  void operator()(const RandomCrop& crop) {
    pad(crop.padding, crop.border);
    if (crop.pad_if_needed) {
      const int64_t wider = std::max<int64_t>(crop.size.width - current().width, 0);
      pad({.left = wider, .right = wider}, crop.border);
      const int64_t higher = std::max<int64_t>(crop.size.height - current().height, 0);
      pad({.top = higher, .bottom = higher}, crop.border);
    }
    const Size size = current();
    if (size.height < crop.size.height || size.width < crop.size.width) throw_too_small(crop, size);
    const Box window{below(0, size.height - crop.size.height + 1),
                     below(1, size.width - crop.size.width + 1), crop.size.height, crop.size.width};
    resample({.box = whole(size), .scaled = size, .window = window});
  }
  void operator()(const RandomRotation& rotation) {
    const Size size = current();
    AffineParameters parameters{.angle = -uniform(0, rotation.degrees[0], rotation.degrees[1])};
    if (rotation.center && !rotation.expand) parameters.center = from_middle(*rotation.center);
    const Matrix matrix = inverse_affine(parameters);
    warp({.output = rotation.expand ? expanded_size(matrix, size) : size,
          .matrix = matrix,
          .interpolation = rotation.interpolation,
          .border = rotation.border});
  }
  void operator()(const RandomAffine& affine) {
    const Size size = current();
    const auto moved = [&](uint32_t draw, double fraction, int64_t side) {
      const double most = fraction * static_cast<double>(side);
      return round_half_even(uniform(draw, -most, most));
    };
    AffineParameters parameters{.angle = uniform(0, affine.degrees[0], affine.degrees[1]),
                                .translate = {moved(1, affine.translate[0], size.width),
                                              moved(2, affine.translate[1], size.height)},
                                .scale = uniform(3, affine.scale[0], affine.scale[1]),
                                .shear = {uniform(4, affine.shear[0], affine.shear[1]),
                                          uniform(5, affine.shear[2], affine.shear[3])}};
    if (affine.center) parameters.center = from_middle(*affine.center);
    warp({.output = size,
          .matrix = inverse_affine(parameters),
          .interpolation = affine.interpolation,
          .border = affine.border});
  }
  void operator()(const HorizontalFlip& flip) { plan_.flip_horizontal ^= happens(flip.p); }
  void operator()(const VerticalFlip& flip) { plan_.flip_vertical ^= happens(flip.p); }
  void operator()(const ColorJitter& jitter) {
    using Kind = ColorStep::Kind;
    std::array<Kind, 4> order{Kind::kBrightness, Kind::kContrast, Kind::kSaturation, Kind::kHue};
    for (uint32_t i = 0; i < 3; ++i) {
      std::swap(order[i], order[i + random_.below(operation_, i, 4 - i)]);
    }
    for (const Kind kind : order) {
      const auto index = static_cast<uint32_t>(kind);
      const std::array<double, 2>& range =
          *std::array{&jitter.brightness, &jitter.contrast, &jitter.saturation, &jitter.hue}[index];
      const double neutral = kind == Kind::kHue ? 0 : 1;
      if (range[0] == neutral && range[1] == neutral) continue;
      add(ColorStep{kind, uniform(3 + index, range[0], range[1])});
    }
  }
  void operator()(const Grayscale&) { add(ColorStep{ColorStep::Kind::kGrayscale}); }
  void operator()(const RandomGrayscale& grayscale) {
    if (happens(grayscale.p)) add(ColorStep{ColorStep::Kind::kGrayscale});
  }
  void operator()(const CustomStage& custom) {
    const Size size = current();
    const Size output = custom.stage->output_size(size);
    const bool keeps_size = custom.stage->in_place() || !custom.stage->moves_pixels();
    if (output.height < 1 || output.width < 1 || (keeps_size && output != size)) {
      throw InvalidArgumentError(
          "a custom stage returns an invalid output size",
          {.expected = keeps_size
                           ? "the input's size, because the stage works in place or moves no pixels"
                           : "a height and width of at least 1 pixel",
           .found = fmt::format("height {}, width {}", output.height, output.width)});
    }
    materialise_flips();
    add(CustomStep{custom.stage.get(), StageRandom(random_, operation_), output});
    plan_.output = output;
  }
  void operator()(const Normalize&) {}

  void finish() {
    if (plan_.steps.empty()) copy_all();
    for (const ResampleStep& step : plan_.steps) require_affordable(step.window.size());
    for (const PixelStep& step : plan_.pixel_steps) {
      if (const auto* resampling = std::get_if<ResampleStep>(&step)) {
        require_affordable(resampling->window.size());
      } else if (const auto* turned = std::get_if<WarpStep>(&step)) {
        require_affordable(turned->output);
      }
    }
  }

 private:
  // The size after all steps so far; flips do not change it.
  Size current() const { return plan_.output; }
  bool happens(double p) const { return random_.uniform(operation_, 0) < p; }

  double uniform(uint32_t draw, double low, double high) const {
    return low + (high - low) * random_.uniform(operation_, draw);
  }
  int64_t below(uint32_t draw, int64_t bound) const {
    return static_cast<int64_t>(random_.below(operation_, draw, static_cast<uint64_t>(bound)));
  }

  // The sides times `factor`, rounded down, at least 1 pixel.
  static Size times(Size size, double factor) {
    const auto side = [factor](int64_t length) {
      return std::max<int64_t>(static_cast<int64_t>(static_cast<double>(length) * factor), 1);
    };
    return {side(size.height), side(size.width)};
  }

  // Converts coordinates from the corner, in pixels, to coordinates from the middle.
  std::array<double, 2> from_middle(std::array<double, 2> place) const {
    return {place[0] - static_cast<double>(current().width) * 0.5,
            place[1] - static_cast<double>(current().height) * 0.5};
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

  // The largest box in the middle with an aspect ratio in range.
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

  // torchvision's center_crop: pads smaller sides, with the odd pixel at the end, then crops, with
  // the odd pixel on the side that Python's round gives.
  static Box central(Size image, Size size) {
    const auto offset = [](int64_t length, int64_t part) {
      if (part > length) return -((part - length) / 2);
      return rounded(static_cast<double>(length - part) / 2.0);
    };
    return {offset(image.height, size.height), offset(image.width, size.width), size.height,
            size.width};
  }

  // Resizes to exactly `to`, with the filter of `transform`.
  template <typename AnyTransform>
  void scale(Size to, const AnyTransform& transform) {
    resample({.box = whole(current()),
              .scaled = to,
              .window = whole(to),
              .interpolation = transform.interpolation,
              .antialias = transform.antialias});
  }

  void pad(const Margins& margins, const Border& border) {
    const Size size = current();
    const Box window{-margins.top, -margins.left, size.height + margins.top + margins.bottom,
                     size.width + margins.left + margins.right};
    if (window == whole(size)) return;
    resample({.box = whole(size), .scaled = size, .window = window, .border = border});
  }

  void resample(ResampleStep step) {
    const bool horizontal = plan_.flip_horizontal;
    const bool vertical = plan_.flip_vertical;
    step.box = mirrored(step.box, current(), horizontal, vertical);
    step.window = mirrored(step.window, step.scaled, horizontal, vertical);
    if (!step.copies()) {
      step.mirror_horizontal = horizontal;
      step.mirror_vertical = vertical;
    }
    plan_.output = step.window.size();
    if (ResampleStep* before = last_resampling()) {
      if (const auto both = merged(*before, step)) {
        *before = *both;
        return;
      }
    }
    if (plan_.pixel_steps.empty()) {
      plan_.steps.push_back(step);
    } else {
      plan_.pixel_steps.emplace_back(step);
    }
  }

  // The last step if it is a resampling, or null.
  ResampleStep* last_resampling() {
    if (!plan_.pixel_steps.empty()) return std::get_if<ResampleStep>(&plan_.pixel_steps.back());
    return plan_.steps.empty() ? nullptr : &plan_.steps.back();
  }

  void copy_all() {
    plan_.steps.push_back({.box = whole(image_), .scaled = image_, .window = whole(image_)});
  }

  void add(PixelStep step) {
    if (plan_.steps.empty()) copy_all();
    plan_.pixel_steps.push_back(std::move(step));
  }

  void materialise_flips() {
    if (plan_.flip_horizontal || plan_.flip_vertical) {
      add(FlipStep{plan_.flip_horizontal, plan_.flip_vertical});
    }
    plan_.flip_horizontal = plan_.flip_vertical = false;
  }

  void warp(const WarpStep& step) {
    materialise_flips();
    add(step);
    plan_.output = step.output;
  }

  [[noreturn]] static void throw_too_small(const RandomCrop& crop, Size image) {
    throw InvalidArgumentError(
        "the image is smaller than RandomCrop's crop size",
        {.expected = fmt::format("at least height {}, width {}", crop.size.height, crop.size.width),
         .found = fmt::format("height {}, width {} (including padding)", image.height, image.width),
         .remedy = "Set pad_if_needed, or put a Resize before the RandomCrop"});
  }

  static void require_affordable(Size size) {
    if (size.height <= kMaxResizedPixels / size.width) return;
    throw UnsupportedError(
        "the resized image would be too large",
        {.expected = fmt::format("at most {} pixels", kMaxResizedPixels),
         .found = fmt::format("height {}, width {}", size.height, size.width),
         .remedy = "Resize to a fixed height and width, or add a crop; only pixels inside the crop "
                   "count towards this limit"});
  }

  const PlanInputs& inputs_;
  const Size image_;
  const Philox& random_;
  uint32_t operation_ = 0;
  Plan& plan_;
};

}  // namespace

void resolve(const Transforms& transforms, const PlanInputs& inputs, Plan& plan) {
  Resolver resolver(inputs, plan);
  uint32_t operation = kOperationsPerLeader * inputs.leader;
  for (const Transform& transform : transforms) resolver.apply(transform, operation++);
  resolver.finish();
}

Plan resolve(const Transforms& transforms, const PlanInputs& inputs) {
  Plan plan;
  resolve(transforms, inputs, plan);
  return plan;
}

void require_still(const CustomStep& step) {
  if (!step.stage->moves_pixels()) return;
  throw UnsupportedError(
      "a custom stage moves pixels, so masks, boxes and points cannot move with the image",
      {.remedy = "Override moves_pixels() to return false, if the stage changes only colours"});
}

void follow(const Plan& leader, Size image, Size other, Follower kind, Plan& to) {
  require_same_aspect(image, other);
  to.steps = leader.steps;
  to.steps.front() = for_size(leader.steps.front(), image, other);
  for (ResampleStep& step : to.steps) step.interpolation = filter_of(kind, step.interpolation);
  to.pixel_steps.clear();
  for (PixelStep step : leader.pixel_steps) {
    const auto* const custom = std::get_if<CustomStep>(&step);
    if (custom != nullptr) require_still(*custom);
    const bool has_colors = custom != nullptr || std::holds_alternative<ColorStep>(step);
    if (has_colors && kind != Follower::kPartner) continue;
    if (auto* resampling = std::get_if<ResampleStep>(&step)) {
      resampling->interpolation = filter_of(kind, resampling->interpolation);
    }
    to.pixel_steps.push_back(step);
  }
  to.flip_horizontal = leader.flip_horizontal;
  to.flip_vertical = leader.flip_vertical;
  to.output = leader.output;
  to.removed.clear();
}

}  // namespace fuelrail
