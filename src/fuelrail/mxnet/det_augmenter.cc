#include "fuelrail/mxnet/det_augmenter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "fuelrail/base/error.h"
#include "fuelrail/mxnet/augment_plan.h"
#include "fuelrail/mxnet/colours.h"
#include "fuelrail/mxnet/det_label.h"
#include "fuelrail/mxnet/picture.h"

namespace fuelrail::mxnet {
namespace {

template <typename Value>
Value of_sampler(const std::vector<Value>& values, size_t sampler) {
  return values[values.size() == 1 ? 0 : sampler];
}

// The pixels of a box of fractions, cut to whole numbers. Empty where there are none.
Box pixels_of(const DetBox& box, Size image) {
  const auto cut = [](float fraction, int64_t pixels) {
    return static_cast<int64_t>(fraction * static_cast<float>(pixels));
  };
  const int64_t top = cut(box.top, image.height);
  const int64_t left = cut(box.left, image.width);
  return {top, left, std::min(cut(box.height, image.height), image.height - top),
          std::min(cut(box.width, image.width), image.width - left)};
}

// As large as fits into `shape`, keeping the ratio, cut to whole pixels.
Size fitted(Size image, Size shape) {
  const auto rows = static_cast<float>(image.height);
  const auto columns = static_cast<float>(image.width);
  const float ratio =
      std::min(static_cast<float>(shape.height) / rows, static_cast<float>(shape.width) / columns);
  // A very long image would lose its other side in MXNet, which fails then.
  return {std::max<int64_t>(1, static_cast<int64_t>(ratio * rows)),
          std::max<int64_t>(1, static_cast<int64_t>(ratio * columns))};
}

}  // namespace

struct DetAugmenter::Impl {
  DetOptions options;
  MxShape shape;
  Picture picture;
  DetLabel label;
  std::vector<int> samplers;  // in the order of their trials

  void resize(Size to, Draws& draws);
  void shorter_side(Draws& draws);
  void change_colours(Draws& draws);
  void mirror(Draws& draws);
  void pad(Draws& draws);
  void crop(Draws& draws);
  bool try_sampler(size_t sampler, Draws& draws);
  DetBox draw_crop(size_t sampler, Draws& draws) const;
  void fit(Draws& draws);
  DetImage placed();
};

void DetAugmenter::Impl::resize(Size to, Draws& draws) {
  const Size from = picture.size();
  picture.resize(to, choose_interpolation(options.inter_method, from, to, draws));
}

void DetAugmenter::Impl::shorter_side(Draws& draws) {
  if (options.resize == -1) return;
  resize(resized_shorter_side(picture.size(), options.resize), draws);
}

void DetAugmenter::Impl::change_colours(Draws& draws) {
  if (!(options.random_hue_prob > 0 || options.random_saturation_prob > 0 ||
        options.random_illumination_prob > 0 || options.random_contrast_prob > 0)) {
    return;
  }
  const auto within = [&](int64_t most) {
    return static_cast<int>(draws.uniform(-1, 1) * static_cast<float>(most));
  };
  int hue = within(options.max_random_hue);
  int saturation = within(options.max_random_saturation);
  int lightness = within(options.max_random_illumination);
  float contrast = draws.uniform(-1, 1) * options.max_random_contrast;
  if (!(draws.unit() < options.random_hue_prob)) hue = 0;
  if (!(draws.unit() < options.random_saturation_prob)) saturation = 0;
  if (!(draws.unit() < options.random_illumination_prob)) lightness = 0;
  if (!(draws.unit() < options.random_contrast_prob)) contrast = 0;
  if (hue != 0 || saturation != 0 || lightness != 0) {
    shift_hls(picture.own(), {hue, lightness, saturation});
  }
  if (std::fabs(static_cast<double>(contrast)) > 1e-3) {
    scale_levels(picture.own(), contrast + 1.0f, 0);
  }
}

void DetAugmenter::Impl::mirror(Draws& draws) {
  if (!(options.rand_mirror_prob > 0 && draws.unit() < options.rand_mirror_prob)) return;
  label.mirror();
  picture.flip();
}

void DetAugmenter::Impl::pad(Draws& draws) {
  if (!(options.rand_pad_prob > 0 && options.max_pad_scale > 1)) return;
  if (!(draws.unit() < options.rand_pad_prob)) return;
  const float scale = draws.uniform(1, options.max_pad_scale);
  if (scale < 1.05f) return;
  const float x = draws.uniform(0, scale - 1);
  const float y = draws.uniform(0, scale - 1);
  const auto rows = static_cast<float>(picture.size().height);
  const auto columns = static_cast<float>(picture.size().width);
  if (std::max(rows, columns) * scale > static_cast<float>(kLongestSide)) {
    throw InvalidArgumentError("max_pad_scale makes the image too large",
                               {.expected = "at most 32766 pixels a side",
                                .found = fmt::format("{}", std::max(rows, columns) * scale)});
  }
  const Margins margins{.left = static_cast<int64_t>(x * columns),
                        .top = static_cast<int64_t>(y * rows),
                        .right = static_cast<int64_t>((scale - x - 1) * columns),
                        .bottom = static_cast<int64_t>((scale - y - 1) * rows)};
  label.enlarge({-x, -y, scale, scale});
  picture.pad(margins, static_cast<uint8_t>(options.fill_value));
}

DetBox DetAugmenter::Impl::draw_crop(size_t sampler, Draws& draws) const {
  const float image_ratio =
      static_cast<float>(picture.size().width) / static_cast<float>(picture.size().height);
  const float scale = draws.uniform(of_sampler(options.min_crop_scales, sampler),
                                    of_sampler(options.max_crop_scales, sampler)) +
                      1e-12f;
  const float square = scale * scale;
  const float least =
      std::max(of_sampler(options.min_crop_aspect_ratios, sampler) / image_ratio, square);
  const float most = std::min(of_sampler(options.max_crop_aspect_ratios, sampler) / image_ratio,
                              static_cast<float>(1.0 / static_cast<double>(square)));
  const float ratio = std::sqrt(draws.uniform(least, most));
  DetBox box;
  box.width = std::min(1.0f, scale * ratio);
  box.height = std::min(1.0f, scale / ratio);
  box.left = draws.uniform(0, 1 - box.width);
  box.top = draws.uniform(0, 1 - box.height);
  return box;
}

bool DetAugmenter::Impl::try_sampler(size_t sampler, Draws& draws) {
  const CropLimits limits{
      .min_overlap = of_sampler(options.min_crop_overlaps, sampler),
      .max_overlap = of_sampler(options.max_crop_overlaps, sampler),
      .min_sample_coverage = of_sampler(options.min_crop_sample_coverages, sampler),
      .max_sample_coverage = of_sampler(options.max_crop_sample_coverages, sampler),
      .min_object_coverage = of_sampler(options.min_crop_object_coverages, sampler),
      .max_object_coverage = of_sampler(options.max_crop_object_coverages, sampler)};
  const int64_t trials = of_sampler(options.max_crop_trials, sampler);
  for (int64_t trial = 0; trial < trials; ++trial) {
    const DetBox box = draw_crop(sampler, draws);
    const Box pixels = pixels_of(box, picture.size());
    if (pixels.height <= 0 || pixels.width <= 0) continue;  // MXNet fails
    if (!label.crop(box, limits, options.crop_emit_mode, options.emit_overlap_thresh)) continue;
    picture.crop(pixels);
    return true;
  }
  return false;
}

void DetAugmenter::Impl::crop(Draws& draws) {
  if (!(options.rand_crop_prob > 0 && options.num_crop_sampler > 0)) return;
  if (!(draws.unit() < options.rand_crop_prob)) return;
  samplers.resize(static_cast<size_t>(options.num_crop_sampler));
  std::iota(samplers.begin(), samplers.end(), 0);
  draws.shuffle(samplers);
  for (const int sampler : samplers) {
    if (try_sampler(static_cast<size_t>(sampler), draws)) return;
  }
}

void DetAugmenter::Impl::fit(Draws& draws) {
  const Size size = picture.size();
  const Size target = shape.size();
  const bool too_large = size.height > target.height || size.width > target.width;
  if (options.resize_mode == DetResizeMode::kForce) {
    resize(target, draws);
  } else if (options.resize_mode == DetResizeMode::kFit || too_large) {
    resize(fitted(size, target), draws);
  }
}

// At the upper left of an image of the shape.
DetImage DetAugmenter::Impl::placed() {
  const Size used = picture.size();
  if (used == shape.size()) return {picture.view(), used};
  picture.replace(shape.size(), [&](ConstImageView from, ImageView to) {
    const auto bytes = static_cast<size_t>(used.width * shape.channels);
    const auto rest = static_cast<size_t>((shape.width - used.width) * shape.channels);
    for (int64_t y = 0; y < shape.height; ++y) {
      if (y < used.height) {
        std::memcpy(to.row(y), from.row(y), bytes);
        std::memset(to.row(y) + bytes, 0, rest);
      } else {
        std::memset(to.row(y), 0, bytes + rest);
      }
    }
  });
  return {picture.view(), used};
}

DetAugmenter::DetAugmenter(const DetOptions& options, const MxShape& shape) {
  check(options, shape);
  impl_ = std::make_unique<Impl>();
  impl_->options = options;
  impl_->shape = shape;
}

DetAugmenter::~DetAugmenter() = default;
DetAugmenter::DetAugmenter(DetAugmenter&&) noexcept = default;
DetAugmenter& DetAugmenter::operator=(DetAugmenter&&) noexcept = default;

DetImage DetAugmenter::augment(ConstImageView decoded, std::vector<float>& label, Draws& draws) {
  impl_->picture.begin(decoded);
  impl_->shorter_side(draws);
  impl_->label.read(label);
  impl_->change_colours(draws);
  impl_->mirror(draws);
  impl_->pad(draws);
  impl_->crop(draws);
  impl_->fit(draws);
  impl_->label.write(label);
  return impl_->placed();
}

void write_det_row(int64_t channels, Size used, std::span<const float> label, float pad_value,
                   std::span<float> row) {
  if (row.size() < kDetRowPrefix + label.size()) {
    throw InvalidArgumentError("label_pad_width is smaller than the record's label",
                               {.expected = fmt::format("at least {}", label.size()),
                                .found = fmt::format("{}", row.size() - kDetRowPrefix),
                                .remedy = "Leave label_pad_width at 0: the widest label decides"});
  }
  row[0] = static_cast<float>(channels);
  row[1] = static_cast<float>(used.height);
  row[2] = static_cast<float>(used.width);
  row[3] = static_cast<float>(label.size());
  const auto rest = std::ranges::copy(label, row.begin() + kDetRowPrefix).out;
  std::fill(rest, row.end(), pad_value);
}

}  // namespace fuelrail::mxnet
