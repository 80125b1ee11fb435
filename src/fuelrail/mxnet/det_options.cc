#include "fuelrail/mxnet/det_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "fuelrail/base/error.h"
#include "fuelrail/mxnet/option_checks.h"

namespace fuelrail::mxnet {
namespace {

void require_det_colours(const DetOptions& options, int64_t channels) {
  const auto changes = [](float probability, int64_t most) { return probability > 0 && most > 0; };
  const bool colours = changes(options.random_hue_prob, options.max_random_hue) ||
                       changes(options.random_saturation_prob, options.max_random_saturation) ||
                       changes(options.random_illumination_prob, options.max_random_illumination);
  if (colours && channels != 3) {
    throw InvalidArgumentError(
        "max_random_hue, max_random_saturation and max_random_illumination need three channels",
        {.expected = "data_shape of 3 channels", .found = fmt::format("{}", channels)});
  }
}

// The one value of a list, or one a sampler.
template <typename Value>
void require_list(const char* parameter, const std::vector<Value>& values, int64_t samplers) {
  if (values.size() == 1 || values.size() == static_cast<size_t>(samplers)) return;
  throw InvalidArgumentError(
      fmt::format("{} has neither one value nor one a crop sampler", parameter),
      {.expected = fmt::format("1 or {} values", samplers),
       .found = fmt::format("{}", values.size()),
       .remedy = "Give a value for each of num_crop_sampler samplers"});
}

void require_range(const char* least, const std::vector<float>& low, const char* most,
                   const std::vector<float>& high, int64_t samplers) {
  require_list(least, low, samplers);
  require_list(most, high, samplers);
  for (const float value : low) require_factor(least, value);
  for (const float value : high) require_factor(most, value);
  for (size_t i = 0; i < std::max(low.size(), high.size()); ++i) {
    const float from = low[low.size() == 1 ? 0 : i];
    const float to = high[high.size() == 1 ? 0 : i];
    require_value(to >= from, most, "at least the smaller limit of the same sampler", to);
  }
}

void require_samplers(const DetOptions& options) {
  const int64_t samplers = options.num_crop_sampler;
  if (samplers <= 0) return;
  require_range("min_crop_scales", options.min_crop_scales, "max_crop_scales",
                options.max_crop_scales, samplers);
  for (size_t i = 0; i < options.max_crop_scales.size(); ++i) {
    require_value(options.max_crop_scales[i] > 0 && options.max_crop_scales[i] <= 1,
                  "max_crop_scales", "above 0, up to 1", options.max_crop_scales[i]);
  }
  require_range("min_crop_aspect_ratios", options.min_crop_aspect_ratios, "max_crop_aspect_ratios",
                options.max_crop_aspect_ratios, samplers);
  require_range("min_crop_overlaps", options.min_crop_overlaps, "max_crop_overlaps",
                options.max_crop_overlaps, samplers);
  require_range("min_crop_sample_coverages", options.min_crop_sample_coverages,
                "max_crop_sample_coverages", options.max_crop_sample_coverages, samplers);
  require_range("min_crop_object_coverages", options.min_crop_object_coverages,
                "max_crop_object_coverages", options.max_crop_object_coverages, samplers);
  require_list("max_crop_trials", options.max_crop_trials, samplers);
  for (const int64_t trials : options.max_crop_trials) {
    require_value(trials <= 1000, "max_crop_trials", "at most 1000", trials);
  }
}

}  // namespace

const OptionTable<DetOptions>& DetOptions::table() {
  using D = DetOptions;
  static const auto table =
      OptionTable<D>()
          .number("resize", &D::resize, -1, kLongestSide)
          .number("inter_method", &D::inter_method)
          .number("rand_crop_prob", &D::rand_crop_prob)
          .number("num_crop_sampler", &D::num_crop_sampler, INT64_MIN, 1000)
          .any({.name = "min_crop_scales", .kind = "floats"}, &D::min_crop_scales)
          .any({.name = "max_crop_scales", .kind = "floats"}, &D::max_crop_scales)
          .any({.name = "min_crop_aspect_ratios", .kind = "floats"}, &D::min_crop_aspect_ratios)
          .any({.name = "max_crop_aspect_ratios", .kind = "floats"}, &D::max_crop_aspect_ratios)
          .any({.name = "min_crop_overlaps", .kind = "floats"}, &D::min_crop_overlaps)
          .any({.name = "max_crop_overlaps", .kind = "floats"}, &D::max_crop_overlaps)
          .any({.name = "min_crop_sample_coverages", .kind = "floats"},
               &D::min_crop_sample_coverages)
          .any({.name = "max_crop_sample_coverages", .kind = "floats"},
               &D::max_crop_sample_coverages)
          .any({.name = "min_crop_object_coverages", .kind = "floats"},
               &D::min_crop_object_coverages)
          .any({.name = "max_crop_object_coverages", .kind = "floats"},
               &D::max_crop_object_coverages)
          .any({.name = "max_crop_trials", .kind = "ints"}, &D::max_crop_trials)
          .choice("crop_emit_mode", &D::crop_emit_mode,
                  {{"center", CropEmitMode::kCenter}, {"overlap", CropEmitMode::kOverlap}})
          .number("emit_overlap_thresh", &D::emit_overlap_thresh, 0,
                  std::numeric_limits<float>::max())
          .number("rand_pad_prob", &D::rand_pad_prob)
          .number("max_pad_scale", &D::max_pad_scale)
          .number("fill_value", &D::fill_value, 0, 255)
          .number("max_random_hue", &D::max_random_hue, 0, 255)
          .number("random_hue_prob", &D::random_hue_prob)
          .number("max_random_saturation", &D::max_random_saturation, 0, 255)
          .number("random_saturation_prob", &D::random_saturation_prob)
          .number("max_random_illumination", &D::max_random_illumination, 0, 255)
          .number("random_illumination_prob", &D::random_illumination_prob)
          .number("max_random_contrast", &D::max_random_contrast, 0, kMostFactor)
          .number("random_contrast_prob", &D::random_contrast_prob)
          .number("rand_mirror_prob", &D::rand_mirror_prob)
          .choice("resize_mode", &D::resize_mode,
                  {{"force", DetResizeMode::kForce},
                   {"shrink", DetResizeMode::kShrink},
                   {"fit", DetResizeMode::kFit}});
  return table;
}

void check(const DetOptions& options, const MxShape& shape) {
  check(shape);
  DetOptions::table().check(options);
  require_interpolation(options.inter_method);
  require_value(options.resize != 0, "resize", "-1 (off), or 1 to 32766 pixels", options.resize);
  require_det_colours(options, shape.channels);
  require_samplers(options);
}

}  // namespace fuelrail::mxnet
