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
        {.expected = "data_shape of 3 channels", .found = fmt::format("{}", channels)});
  }
}

// The one value of a list, or one a sampler.
template <typename Value>
void require_list(const std::string& parameter, const std::vector<Value>& values,
                  int64_t samplers) {
  if (values.size() == 1 || values.size() == static_cast<size_t>(samplers)) return;
  throw InvalidArgumentError(
      fmt::format("{} has neither one value nor one a crop sampler", parameter),
      {.expected = fmt::format("1 or {} values", samplers),
       .found = fmt::format("{}", values.size()),
       .remedy = "Give a value for each of num_crop_sampler samplers"});
}

// The lists min_crop_* and max_crop_*.
struct LimitLists {
  const char* name;
  const char* meaning;  // of both
  std::vector<float> DetOptions::*least;
  std::vector<float> DetOptions::*most;

  std::string min() const { return fmt::format("min_crop_{}", name); }
  std::string max() const { return fmt::format("max_crop_{}", name); }
  OptionRule rule(std::string of) const {
    return each(option::number_rule(std::move(of), "float", 0.0, double{kMostFactor}, meaning));
  }
};

constexpr LimitLists kLimitLists[] = {
    {"scales", "Limit of sides, relative to the image's.", &DetOptions::min_crop_scales,
     &DetOptions::max_crop_scales},
    {"aspect_ratios", "Limit of width / height, in pixels.", &DetOptions::min_crop_aspect_ratios,
     &DetOptions::max_crop_aspect_ratios},
    {"overlaps", "Limit of intersection over union with an object.", &DetOptions::min_crop_overlaps,
     &DetOptions::max_crop_overlaps},
    {"sample_coverages", "Limit of an object's part of the crop's area.",
     &DetOptions::min_crop_sample_coverages, &DetOptions::max_crop_sample_coverages},
    {"object_coverages", "Limit of the crop's part of an object's area.",
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
      require_value(to >= from, lists.max(), "at least the smaller limit of the same sampler", to);
    }
  }
  for (const float scale : options.max_crop_scales) {
    require_value(scale > 0 && scale <= 1, "max_crop_scales", "above 0, up to 1", scale);
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
                "At most so many half degrees are added to hue, or subtracted.")
        .number("random_hue_prob", &D::random_hue_prob,
                "Probability of that; of all probabilities, 0 and below is never.")
        .number("max_random_saturation", &D::max_random_saturation, 0, 255,
                "At most so many levels are added to saturation, or subtracted.")
        .number("random_saturation_prob", &D::random_saturation_prob, "Probability of that.")
        .number("max_random_illumination", &D::max_random_illumination, 0, 255,
                "At most so many levels are added to lightness, or subtracted.")
        .number("random_illumination_prob", &D::random_illumination_prob, "Probability of that.")
        .number("max_random_contrast", &D::max_random_contrast, 0, kMostFactor,
                "A factor in [1 - it, 1 + it].")
        .number("random_contrast_prob", &D::random_contrast_prob, "Probability of that.")
        .number("rand_mirror_prob", &D::rand_mirror_prob,
                "Probability that left and right are exchanged.")
        .number("rand_pad_prob", &D::rand_pad_prob, "Probability of a canvas around the image.")
        .number("max_pad_scale", &D::max_pad_scale, "Its sides, at most, relative to the image's.")
        .number("fill_value", &D::fill_value, 0, 255, "Level of the canvas.")
        .number("rand_crop_prob", &D::rand_crop_prob, "Probability of a crop.")
        .number("num_crop_sampler", &D::num_crop_sampler, INT64_MIN, 1000,
                "Samplers, tried in random order until a crop leaves an object, and one object "
                "satisfies all limits. A list has one value a sampler, or one for all.");
    for (const LimitLists& lists : kLimitLists) {
      rows.any(lists.rule(lists.min()), lists.least);
      rows.any(lists.rule(lists.max()), lists.most);
    }
    rows.any(each(option::number_rule("max_crop_trials", "int", INT64_MIN, int64_t{1000},
                                      "Tries of a sampler.")),
             &D::max_crop_trials)
        .choice("crop_emit_mode", &D::crop_emit_mode,
                {{"center", CropEmitMode::kCenter}, {"overlap", CropEmitMode::kOverlap}},
                "Which objects a crop leaves: those whose centre it holds, or those of whose area "
                "it holds more than emit_overlap_thresh.")
        .number("emit_overlap_thresh", &D::emit_overlap_thresh, 0,
                std::numeric_limits<float>::max(), "A fraction of the object's area.")
        .choice("resize_mode", &D::resize_mode,
                {{"force", DetResizeMode::kForce},
                 {"shrink", DetResizeMode::kShrink},
                 {"fit", DetResizeMode::kFit}},
                "To the shape: whatever the ratio; only what is too large, keeping the ratio; as "
                "large as fits, keeping the ratio. The rest, right and below, is 0.");
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
