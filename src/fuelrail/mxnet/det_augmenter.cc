#include "fuelrail/mxnet/det_augmenter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "fuelrail/base/error.h"
#include "fuelrail/mxnet/augment_plan.h"
#include "fuelrail/mxnet/colours.h"

namespace fuelrail::mxnet {
namespace {

template <typename Value>
Value of_sampler(const std::vector<Value>& values, size_t sampler) {
  return values[values.size() == 1 ? 0 : sampler];
}

// Converts a box from fractions of the image's sides to pixels, truncated. The result may be empty.
Box pixels_of(const DetBox& box, Size image) {
  const auto cut = [](float fraction, int64_t pixels) {
    return static_cast<int64_t>(fraction * static_cast<float>(pixels));
  };
  const int64_t top = cut(box.top, image.height);
  const int64_t left = cut(box.left, image.width);
  return {top, left, std::min(cut(box.height, image.height), image.height - top),
          std::min(cut(box.width, image.width), image.width - left)};
}

// The largest size that fits into `shape` and keeps the aspect ratio, truncated to whole pixels.
Size fitted(Size image, Size shape) {
  const auto rows = static_cast<float>(image.height);
  const auto columns = static_cast<float>(image.width);
  const float ratio =
      std::min(static_cast<float>(shape.height) / rows, static_cast<float>(shape.width) / columns);
  // MXNet fails for a very long image, whose other side becomes 0.
  return {std::max<int64_t>(1, static_cast<int64_t>(ratio * rows)),
          std::max<int64_t>(1, static_cast<int64_t>(ratio * columns))};
}

}  // namespace

void DetAugmenter::resize(Size to, Draws& draws) {
  const Size from = picture_.size();
  picture_.resize(to, choose_interpolation(options_.inter_method, from, to, draws));
}

void DetAugmenter::shorter_side(Draws& draws) {
  if (options_.resize == -1) return;
  resize(resized_shorter_side(picture_.size(), options_.resize), draws);
}

void DetAugmenter::change_colours(Draws& draws) {
  if (!(options_.random_hue_prob > 0 || options_.random_saturation_prob > 0 ||
        options_.random_illumination_prob > 0 || options_.random_contrast_prob > 0)) {
    return;
  }
  const auto within = [&](int64_t most) {
    return static_cast<int>(draws.uniform(-1, 1) * static_cast<float>(most));
  };
  int hue = within(options_.max_random_hue);
  int saturation = within(options_.max_random_saturation);
  int lightness = within(options_.max_random_illumination);
  float contrast = draws.uniform(-1, 1) * options_.max_random_contrast;
  if (!(draws.unit() < options_.random_hue_prob)) hue = 0;
  if (!(draws.unit() < options_.random_saturation_prob)) saturation = 0;
  if (!(draws.unit() < options_.random_illumination_prob)) lightness = 0;
  if (!(draws.unit() < options_.random_contrast_prob)) contrast = 0;
  if (hue != 0 || saturation != 0 || lightness != 0) {
    shift_hls(picture_.own(), {hue, lightness, saturation});
  }
  if (std::fabs(static_cast<double>(contrast)) > 1e-3) {
    scale_levels(picture_.own(), contrast + 1.0f, 0);
  }
}

void DetAugmenter::mirror(Draws& draws) {
  if (!(options_.rand_mirror_prob > 0 && draws.unit() < options_.rand_mirror_prob)) return;
  label_.mirror();
  picture_.flip();
}

void DetAugmenter::pad(Draws& draws) {
  if (!(options_.rand_pad_prob > 0 && options_.max_pad_scale > 1)) return;
  if (!(draws.unit() < options_.rand_pad_prob)) return;
  const float scale = draws.uniform(1, options_.max_pad_scale);
  if (scale < 1.05f) return;
  const float x = draws.uniform(0, scale - 1);
  const float y = draws.uniform(0, scale - 1);
  const auto rows = static_cast<float>(picture_.size().height);
  const auto columns = static_cast<float>(picture_.size().width);
  if (std::max(rows, columns) * scale > static_cast<float>(kLongestSide)) {
    throw InvalidArgumentError("`max_pad_scale` makes the image too large",
                               {.expected = "at most 32766 pixels per side",
                                .found = fmt::format("{}", std::max(rows, columns) * scale)});
  }
  const Margins margins{.left = static_cast<int64_t>(x * columns),
                        .top = static_cast<int64_t>(y * rows),
                        .right = static_cast<int64_t>((scale - x - 1) * columns),
                        .bottom = static_cast<int64_t>((scale - y - 1) * rows)};
  label_.enlarge({-x, -y, scale, scale});
  picture_.pad(margins, static_cast<uint8_t>(options_.fill_value));
}

DetBox DetAugmenter::draw_crop(size_t sampler, Draws& draws) const {
  const float image_ratio =
      static_cast<float>(picture_.size().width) / static_cast<float>(picture_.size().height);
  const float scale = draws.uniform(of_sampler(options_.min_crop_scales, sampler),
                                    of_sampler(options_.max_crop_scales, sampler)) +
                      1e-12f;
  const float square = scale * scale;
  const float least =
      std::max(of_sampler(options_.min_crop_aspect_ratios, sampler) / image_ratio, square);
  const float most = std::min(of_sampler(options_.max_crop_aspect_ratios, sampler) / image_ratio,
                              static_cast<float>(1.0 / static_cast<double>(square)));
  const float ratio = std::sqrt(draws.uniform(least, most));
  DetBox box;
  box.width = std::min(1.0f, scale * ratio);
  box.height = std::min(1.0f, scale / ratio);
  box.left = draws.uniform(0, 1 - box.width);
  box.top = draws.uniform(0, 1 - box.height);
  return box;
}

bool DetAugmenter::try_sampler(size_t sampler, Draws& draws) {
  const CropLimits limits{
      .min_overlap = of_sampler(options_.min_crop_overlaps, sampler),
      .max_overlap = of_sampler(options_.max_crop_overlaps, sampler),
      .min_sample_coverage = of_sampler(options_.min_crop_sample_coverages, sampler),
      .max_sample_coverage = of_sampler(options_.max_crop_sample_coverages, sampler),
      .min_object_coverage = of_sampler(options_.min_crop_object_coverages, sampler),
      .max_object_coverage = of_sampler(options_.max_crop_object_coverages, sampler)};
  const int64_t trials = of_sampler(options_.max_crop_trials, sampler);
  for (int64_t trial = 0; trial < trials; ++trial) {
    const DetBox box = draw_crop(sampler, draws);
    const Box pixels = pixels_of(box, picture_.size());
    if (pixels.height <= 0 || pixels.width <= 0) continue;  // MXNet fails here
    if (!label_.crop(box, limits, options_.crop_emit_mode, options_.emit_overlap_thresh)) continue;
    picture_.crop(pixels);
    return true;
  }
  return false;
}

void DetAugmenter::crop(Draws& draws) {
  if (!(options_.rand_crop_prob > 0 && options_.num_crop_sampler > 0)) return;
  if (!(draws.unit() < options_.rand_crop_prob)) return;
  samplers_.resize(static_cast<size_t>(options_.num_crop_sampler));
  std::iota(samplers_.begin(), samplers_.end(), 0);
  draws.shuffle(samplers_);
  for (const int sampler : samplers_) {
    if (try_sampler(static_cast<size_t>(sampler), draws)) return;
  }
}

void DetAugmenter::fit(Draws& draws) {
  const Size size = picture_.size();
  const Size target = shape_.size();
  const bool too_large = size.height > target.height || size.width > target.width;
  if (options_.resize_mode == DetResizeMode::kForce) {
    resize(target, draws);
  } else if (options_.resize_mode == DetResizeMode::kFit || too_large) {
    resize(fitted(size, target), draws);
  }
}

// Places the picture at the upper left of an image of data_shape's size.
DetImage DetAugmenter::placed() {
  const Size used = picture_.size();
  if (used == shape_.size()) return {picture_.view(), used};
  picture_.replace(shape_.size(), [&](ConstImageView from, ImageView to) {
    const auto bytes = static_cast<size_t>(used.width * shape_.channels);
    const auto rest = static_cast<size_t>((shape_.width - used.width) * shape_.channels);
    for (int64_t y = 0; y < shape_.height; ++y) {
      if (y < used.height) {
        std::memcpy(to.row(y), from.row(y), bytes);
        std::memset(to.row(y) + bytes, 0, rest);
      } else {
        std::memset(to.row(y), 0, bytes + rest);
      }
    }
  });
  return {picture_.view(), used};
}

DetAugmenter::DetAugmenter(const DetOptions& options, const MxShape& shape)
    : options_(options), shape_(shape) {
  check(options, shape);
}

DetImage DetAugmenter::augment(ConstImageView decoded, std::vector<float>& label, Draws& draws) {
  picture_.begin(decoded);
  shorter_side(draws);
  label_.read(label);
  change_colours(draws);
  mirror(draws);
  pad(draws);
  crop(draws);
  fit(draws);
  label_.write(label);
  return placed();
}

void write_det_row(int64_t channels, Size used, std::span<const float> label, float pad_value,
                   std::span<float> row) {
  if (row.size() < kDetRowPrefix + label.size()) {
    throw InvalidArgumentError(
        "`label_pad_width` is smaller than the length of the record's label",
        {.expected = fmt::format("at least {}", label.size()),
         .found = fmt::format("{}", row.size() - kDetRowPrefix),
         .remedy =
             "Set label_pad_width to 0 to pad all labels to the length of the longest label"});
  }
  row[0] = static_cast<float>(channels);
  row[1] = static_cast<float>(used.height);
  row[2] = static_cast<float>(used.width);
  row[3] = static_cast<float>(label.size());
  const auto rest = std::ranges::copy(label, row.begin() + kDetRowPrefix).out;
  std::fill(rest, row.end(), pad_value);
}

}  // namespace fuelrail::mxnet
