#include "fuelrail/mxnet/det_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

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
        {.expected = "3 channels in data_shape", .found = fmt::format("{}", channels)});
  }
}

// Checks that a list has one value, or one value per sampler.
template <typename Value>
void require_list(const std::string& parameter, const std::vector<Value>& values,
                  int64_t samplers) {
  if (values.size() == 1 || values.size() == static_cast<size_t>(samplers)) return;
  throw InvalidArgumentError(
      fmt::format("`{}` has the wrong number of values", parameter),
      {.expected = fmt::format("1 or {} (num_crop_sampler)", samplers),
       .found = fmt::format("{}", values.size()),
       .remedy = "Give one value for all crop samplers, or one value for each of them"});
}

// A pair of lists min_crop_* and max_crop_*.
struct LimitLists {
  const char* name;
  const char* meaning;  // text for both lists
  std::vector<float> DetOptions::*least;
  std::vector<float> DetOptions::*most;

  std::string min() const { return fmt::format("min_crop_{}", name); }
  std::string max() const { return fmt::format("max_crop_{}", name); }
  OptionRule rule(std::string of) const {
    return each(option::number_rule(std::move(of), "float", 0.0, double{kMostFactor}, meaning));
  }
};

constexpr LimitLists kLimitLists[] = {
    {"scales", "Limit of the crop's sides, as a fraction of the image's sides.",
     &DetOptions::min_crop_scales, &DetOptions::max_crop_scales},
    {"aspect_ratios", "Limit of the crop's width / height, both in pixels.",
     &DetOptions::min_crop_aspect_ratios, &DetOptions::max_crop_aspect_ratios},
    {"overlaps", "Limit of the crop's intersection over union with an object.",
     &DetOptions::min_crop_overlaps, &DetOptions::max_crop_overlaps},
    {"sample_coverages", "Limit of the fraction of the crop's area that an object covers.",
     &DetOptions::min_crop_sample_coverages, &DetOptions::max_crop_sample_coverages},
    {"object_coverages", "Limit of the fraction of an object's area that the crop covers.",
     &DetOptions::min_crop_object_coverages, &DetOptions::max_crop_object_coverages},
};

void require_samplers(const DetOptions& options) {
  const int64_t samplers = options.num_crop_sampler;
  if (samplers <= 0) return;
  for (const LimitLists& lists : kLimitLists) {
    const auto& low = options.*lists.least;
    const auto& high = options.*lists.most;
    require_list(lists.min(), low, samplers);
    require_list(lists.max(), high, samplers);
    for (size_t i = 0; i < std::max(low.size(), high.size()); ++i) {
      const float from = low[low.size() == 1 ? 0 : i];
      const float to = high[high.size() == 1 ? 0 : i];
      require_value(to >= from, lists.max(), "at least the lower limit of the same sampler", to);
    }
  }
  for (const float scale : options.max_crop_scales) {
    require_value(scale > 0 && scale <= 1, "max_crop_scales", "above 0 and at most 1", scale);
  }
  require_list("max_crop_trials", options.max_crop_trials, samplers);
}

}  // namespace

const OptionTable<DetOptions>& DetOptions::table() {
  using D = DetOptions;
  static const auto table = [] {
    OptionTable<D> rows;
    rows.any(interpolation_rule(), &D::inter_method)
        .any(shorter_side_rule(), &D::resize)
        .number("max_random_hue", &D::max_random_hue, 0, 255,
                "Largest change of the hue, up or down, in units of 2 degrees.")
        .number("random_hue_prob", &D::random_hue_prob,
                "Probability that the hue changes; 0 or below: never.")
        .number("max_random_saturation", &D::max_random_saturation, 0, 255,
                "Largest change of the saturation (0 to 255), up or down.")
        .number("random_saturation_prob", &D::random_saturation_prob,
                "Probability that the saturation changes; 0 or below: never.")
        .number("max_random_illumination", &D::max_random_illumination, 0, 255,
                "Largest change of the lightness (0 to 255), up or down.")
        .number("random_illumination_prob", &D::random_illumination_prob,
                "Probability that the lightness changes; 0 or below: never.")
        .number("max_random_contrast", &D::max_random_contrast, 0, kMostFactor,
                "Multiplies pixels by a random factor in [1 - max_random_contrast, 1 + "
                "max_random_contrast].")
        .number("random_contrast_prob", &D::random_contrast_prob,
                "Probability that the contrast changes; 0 or below: never.")
        .number("rand_mirror_prob", &D::rand_mirror_prob,
                "Probability that the image is mirrored left to right; 0 or below: never.")
        .number("rand_pad_prob", &D::rand_pad_prob,
                "Probability that the image is placed on a larger canvas; 0 or below: never.")
        .number("max_pad_scale", &D::max_pad_scale,
                "Largest sides of the canvas, as a multiple of the image's sides.")
        .number("fill_value", &D::fill_value, 0, 255,
                "Value of the canvas's pixels around the image. Their alpha is 0.")
        .number("rand_crop_prob", &D::rand_crop_prob,
                "Probability that the image is cropped; 0 or below: never.")
        .number(
            "num_crop_sampler", &D::num_crop_sampler, INT64_MIN, 1000,
            "Number of crop samplers. A sampler tries random crops within its limits. The samplers "
            "are tried in random order until one finds a crop that keeps at least one object, and "
            "in which at least one object satisfies all limits. Each list of limits has one value "
            "per sampler, or one value for all samplers.");
    for (const LimitLists& lists : kLimitLists) {
      rows.any(lists.rule(lists.min()), lists.least);
      rows.any(lists.rule(lists.max()), lists.most);
    }
    rows.any(each(option::number_rule("max_crop_trials", "int", INT64_MIN, int64_t{1000},
                                      "Largest number of crops that each sampler tries.")),
             &D::max_crop_trials)
        .choice(
            "crop_emit_mode", &D::crop_emit_mode,
            {{"center", CropEmitMode::kCenter}, {"overlap", CropEmitMode::kOverlap}},
            "Which objects a crop keeps. center: objects with their centre in the crop. overlap: "
            "objects with more than the fraction emit_overlap_thresh of their area in the crop.")
        .number("emit_overlap_thresh", &D::emit_overlap_thresh, 0,
                std::numeric_limits<float>::max(),
                "If crop_emit_mode is 'overlap', a crop keeps the objects with more than this "
                "fraction of their area in the crop.")
        .choice(
            "resize_mode", &D::resize_mode,
            {{"force", DetResizeMode::kForce},
             {"shrink", DetResizeMode::kShrink},
             {"fit", DetResizeMode::kFit}},
            "How the image is resized to data_shape. force: to exactly this size, even if the "
            "aspect ratio changes. shrink: with the same aspect ratio, and only if the image is "
            "too large. fit: with the same aspect ratio, to the largest size that fits. Output "
            "pixels to the right of the image and below it are 0.");
    return rows;
  }();
  return table;
}

void check(const DetOptions& options, const MxShape& shape) {
  check(shape);
  DetOptions::table().check(options);
  require_det_colours(options, shape.channels);
  require_samplers(options);
}

}  // namespace fuelrail::mxnet
