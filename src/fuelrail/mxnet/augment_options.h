// The parameters of MXNet's default augmenter ("aug_default"), with MXNet's names and defaults.
// docs/mxnet_augmentation.md has their formulas.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "fuelrail/base/option.h"
#include "fuelrail/mxnet/mx_shape.h"
#include "fuelrail/transform/pixel_stage.h"

namespace fuelrail::mxnet {

// The parameters in the order in which they take effect. `table` describes them.
struct AugmentOptions {
  int64_t inter_method = 1;
  int64_t resize = -1;

  int64_t rotate = -1;
  int64_t max_rotate_angle = 0;
  std::vector<int64_t> rotate_list{};
  float max_shear_ratio = 0;
  float max_random_scale = 1;
  float min_random_scale = 1;
  float max_aspect_ratio = 0;
  std::optional<float> min_aspect_ratio{};
  float max_img_size = 1e10f;
  float min_img_size = 0;

  int64_t pad = 0;
  int64_t fill_value = 255;

  bool random_resized_crop = false;
  float max_random_area = 1;
  float min_random_area = 1;
  int64_t max_crop_size = -1;
  int64_t min_crop_size = -1;
  bool rand_crop = false;

  float brightness = 0;
  float contrast = 0;
  float saturation = 0;
  int64_t random_h = 0;
  int64_t random_s = 0;
  int64_t random_l = 0;
  float pca_noise = 0;

  // User-defined stages, applied after all of the above. Each takes and returns three channels and
  // the size of data_shape.
  std::vector<std::shared_ptr<const PixelStage>> stages{};

  static const OptionTable<AugmentOptions>& table();  // all parameters except `stages`
};

// Checks each value and the combination of values. Errors: InvalidArgumentError that names the
// parameter, for a value out of range; for random_resized_crop together with rand_crop, a crop size
// or a random scale; if only one of the two crop sizes is set; for colour changes or stages if
// data_shape.channels is not 3; for a stage that is null or changes the image's size. Also the
// errors of check(shape).
void check(const AugmentOptions& options, const MxShape& shape);

}  // namespace fuelrail::mxnet
