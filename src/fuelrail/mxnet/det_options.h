// The parameters of MXNet's detection augmenter ("det_aug_default"), with MXNet's names and
// defaults. docs/mxnet_detection.md has their formulas.
#pragma once

#include <cstdint>
#include <vector>

#include "fuelrail/base/option.h"
#include "fuelrail/mxnet/mx_shape.h"

namespace fuelrail::mxnet {

enum class CropEmitMode : uint8_t { kCenter, kOverlap };
enum class DetResizeMode : uint8_t { kForce, kShrink, kFit };

// The parameters in the order in which they take effect. `table` describes them.
struct DetOptions {
  int64_t inter_method = 1;
  int64_t resize = -1;

  int64_t max_random_hue = 0;
  float random_hue_prob = 0;
  int64_t max_random_saturation = 0;
  float random_saturation_prob = 0;
  int64_t max_random_illumination = 0;
  float random_illumination_prob = 0;
  float max_random_contrast = 0;
  float random_contrast_prob = 0;

  float rand_mirror_prob = 0;

  float rand_pad_prob = 0;
  float max_pad_scale = 1;
  int64_t fill_value = 127;

  float rand_crop_prob = 0;
  int64_t num_crop_sampler = 1;
  std::vector<float> min_crop_scales{0.0f};
  std::vector<float> max_crop_scales{1.0f};
  std::vector<float> min_crop_aspect_ratios{1.0f};
  std::vector<float> max_crop_aspect_ratios{1.0f};
  std::vector<float> min_crop_overlaps{0.0f};
  std::vector<float> max_crop_overlaps{1.0f};
  std::vector<float> min_crop_sample_coverages{0.0f};
  std::vector<float> max_crop_sample_coverages{1.0f};
  std::vector<float> min_crop_object_coverages{0.0f};
  std::vector<float> max_crop_object_coverages{1.0f};
  std::vector<int64_t> max_crop_trials{25};
  CropEmitMode crop_emit_mode = CropEmitMode::kCenter;
  float emit_overlap_thresh = 0.3f;

  DetResizeMode resize_mode = DetResizeMode::kForce;

  static const OptionTable<DetOptions>& table();
};

// Checks each value and the combination of values. Errors: InvalidArgumentError that names the
// parameter, for a value out of range; for a list that has neither one value nor num_crop_sampler
// values; for changes of hue, saturation or illumination if data_shape.channels is not 3. Also the
// errors of check(shape).
void check(const DetOptions& options, const MxShape& shape);

}  // namespace fuelrail::mxnet
