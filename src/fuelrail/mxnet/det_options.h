// What MXNet's detection augmenter ("det_aug_default") is told: its parameters under their own
// names, with its defaults. What each does, to the formula: docs/mxnet_detection.md.
#pragma once

#include <cstdint>
#include <vector>

#include "fuelrail/base/option.h"
#include "fuelrail/mxnet/mx_shape.h"

namespace fuelrail::mxnet {

// Which objects a crop leaves in the label: those whose centre it holds, or those of whose area it
// holds more than emit_overlap_thresh.
enum class CropEmitMode : uint8_t { kCenter, kOverlap };

// Force: to the shape, whatever the ratio. Shrink: what is too large, keeping the ratio. Fit: as
// large as fits, keeping the ratio. What is smaller than the shape lies at its upper left, the rest
// is 0.
enum class DetResizeMode : uint8_t { kForce, kShrink, kFit };

// Probabilities are of 0 to 1; 0 and below is never.
struct DetOptions {
  int64_t inter_method = 1;  // as AugmentOptions'
  int64_t resize = -1;       // the shorter side; off

  // Hue (half degrees), saturation and lightness (of 255): a number in [-max, max] is added.
  // Contrast: a factor in [1 - max, 1 + max].
  int64_t max_random_hue = 0;
  float random_hue_prob = 0;
  int64_t max_random_saturation = 0;
  float random_saturation_prob = 0;
  int64_t max_random_illumination = 0;
  float random_illumination_prob = 0;
  float max_random_contrast = 0;
  float random_contrast_prob = 0;

  float rand_mirror_prob = 0;

  // The image in a canvas of up to max_pad_scale times its sides.
  float rand_pad_prob = 0;
  float max_pad_scale = 1;
  int64_t fill_value = 127;

  // A crop by one of `num_crop_sampler` samplers, tried in random order, each at most so many
  // times, until the crop satisfies its limits and leaves an object. A list has one value a
  // sampler, or one for all. Scales are sides relative to the image's, aspect ratios width / height
  // in pixels; overlap is intersection over union with an object, sample coverage the intersection
  // over the crop's area, object coverage over the object's: one object must satisfy them all.
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

// Errors: InvalidArgumentError, naming the parameter: a value without a meaning; lists that are
// neither of one value nor of num_crop_sampler; hue, saturation or illumination of an image that
// has not three channels. Those of check(shape).
void check(const DetOptions& options, const MxShape& shape);

}  // namespace fuelrail::mxnet
