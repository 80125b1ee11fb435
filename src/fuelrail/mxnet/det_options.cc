#include "fuelrail/mxnet/det_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuelrail/base/error.h"
#include "fuelrail/mxnet/option_checks.h"

namespace fuelrail::mxnet {
namespace {

void require_det_colours(const DetOptions& options, int64_t channels) {
  const auto fits = [](int64_t most) { return most >= 0 && most <= 255; };
  require_value(fits(options.max_random_hue), "max_random_hue", "0 to 255", options.max_random_hue);
  require_value(fits(options.max_random_saturation), "max_random_saturation", "0 to 255",
                options.max_random_saturation);
  require_value(fits(options.max_random_illumination), "max_random_illumination", "0 to 255",
                options.max_random_illumination);
  require_factor("max_random_contrast", options.max_random_contrast);
  require_finite("random_hue_prob", options.random_hue_prob);
  require_finite("random_saturation_prob", options.random_saturation_prob);
  require_finite("random_illumination_prob", options.random_illumination_prob);
  require_finite("random_contrast_prob", options.random_contrast_prob);
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
  require_value(samplers <= 1000, "num_crop_sampler", "at most 1000", samplers);
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

void check(const DetOptions& options, const MxShape& shape) {
  check(shape);
  require_interpolation(options.inter_method);
  require_value(options.resize == -1 || (options.resize >= 1 && options.resize <= kLongestSide),
                "resize", "-1 (off), or 1 to 32766 pixels", options.resize);
  require_det_colours(options, shape.channels);
  require_finite("rand_mirror_prob", options.rand_mirror_prob);
  require_finite("rand_pad_prob", options.rand_pad_prob);
  require_finite("max_pad_scale", options.max_pad_scale);
  require_value(options.fill_value >= 0 && options.fill_value <= 255, "fill_value", "0 to 255",
                options.fill_value);
  require_finite("rand_crop_prob", options.rand_crop_prob);
  require_samplers(options);
  require_magnitude("emit_overlap_thresh", options.emit_overlap_thresh);
}

}  // namespace fuelrail::mxnet
