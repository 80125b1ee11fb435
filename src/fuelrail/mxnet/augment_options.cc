#include "fuelrail/mxnet/augment_options.h"

#include <fmt/format.h>

#include "fuelrail/base/error.h"
#include "fuelrail/mxnet/option_checks.h"

namespace fuelrail::mxnet {
namespace {

constexpr int64_t kMostDegrees = 1000000;

void require_turns(const AugmentOptions& options) {
  const auto fits = [](int64_t angle) { return angle >= -kMostDegrees && angle <= kMostDegrees; };
  require_value(options.rotate >= -1 && fits(options.rotate), "rotate",
                "-1 (off), or 0 to a million degrees", options.rotate);
  require_value(fits(options.max_rotate_angle) && options.max_rotate_angle >= 0, "max_rotate_angle",
                "0 to a million degrees", options.max_rotate_angle);
  for (const int64_t angle : options.rotate_list) {
    require_value(fits(angle), "rotate_list", "at most a million degrees", angle);
  }
}

void require_affine(const AugmentOptions& options) {
  require_turns(options);
  require_factor("max_shear_ratio", options.max_shear_ratio);
  require_ratio("min_random_scale", options.min_random_scale);
  require_ratio("max_random_scale", options.max_random_scale);
  require_factor("max_aspect_ratio", options.max_aspect_ratio);
  if (options.min_aspect_ratio) {
    require_ratio("min_aspect_ratio", *options.min_aspect_ratio);
    require_value(options.max_aspect_ratio >= *options.min_aspect_ratio, "max_aspect_ratio",
                  "at least min_aspect_ratio", options.max_aspect_ratio);
  } else {
    require_value(options.max_aspect_ratio < 1, "max_aspect_ratio",
                  "below 1, where min_aspect_ratio is not given", options.max_aspect_ratio);
  }
  require_value(options.max_img_size >= 1, "max_img_size", "at least 1", options.max_img_size);
  require_value(options.min_img_size >= 0 && options.min_img_size <= options.max_img_size &&
                    options.min_img_size <= static_cast<float>(kLongestSide),
                "min_img_size", "from 0 to max_img_size, and at most 32766", options.min_img_size);
}

void require_areas(const AugmentOptions& options) {
  const auto fits = [](float area) { return area > 0 && area <= 1; };
  require_value(fits(options.min_random_area), "min_random_area", "above 0, up to 1",
                options.min_random_area);
  require_value(fits(options.max_random_area) && options.max_random_area >= options.min_random_area,
                "max_random_area", "from min_random_area to 1", options.max_random_area);
}

void require_crops(const AugmentOptions& options) {
  const bool sizes = options.max_crop_size != -1 || options.min_crop_size != -1;
  if (options.random_resized_crop) {
    require_areas(options);
    const bool scales = options.min_random_scale != 1 || options.max_random_scale != 1;
    if (sizes || scales || options.rand_crop) {
      throw InvalidArgumentError(
          "random_resized_crop excludes rand_crop, min_crop_size, max_crop_size, min_random_scale "
          "and max_random_scale",
          {.remedy = "Choose one kind of crop"});
    }
  }
  if (!sizes) return;
  require_value(options.max_crop_size != -1, "min_crop_size", "-1, as max_crop_size is, or both",
                options.min_crop_size);
  require_value(options.min_crop_size >= 1, "min_crop_size",
                "at least 1, as max_crop_size is given", options.min_crop_size);
  require_value(
      options.max_crop_size >= options.min_crop_size && options.max_crop_size <= kLongestSide,
      "max_crop_size", "from min_crop_size to 32766", options.max_crop_size);
}

void require_colours(const AugmentOptions& options, int64_t channels) {
  require_factor("brightness", options.brightness);
  require_factor("contrast", options.contrast);
  require_factor("saturation", options.saturation);
  require_factor("pca_noise", options.pca_noise);
  const auto fits = [](int64_t most) { return most >= 0 && most <= 255; };
  require_value(fits(options.random_h), "random_h", "0 to 255", options.random_h);
  require_value(fits(options.random_s), "random_s", "0 to 255", options.random_s);
  require_value(fits(options.random_l), "random_l", "0 to 255", options.random_l);
  const bool colours = options.brightness > 0 || options.contrast > 0 || options.saturation > 0 ||
                       options.pca_noise > 0 || options.random_h > 0 || options.random_s > 0 ||
                       options.random_l > 0 || !options.stages.empty();
  if (colours && channels != 3) {
    throw InvalidArgumentError(
        "brightness, contrast, saturation, random_h, random_s, random_l, pca_noise and the user's "
        "own stages need three channels",
        {.expected = "data_shape of 3 channels", .found = fmt::format("{}", channels)});
  }
}

void require_stages(const AugmentOptions& options, Size size) {
  for (const auto& stage : options.stages) {
    if (stage == nullptr) throw InvalidArgumentError("a stage of the user's is null");
    const Size output = stage->output_size(size);
    if (output == size) continue;
    throw InvalidArgumentError(
        "a stage of the user's changes the size of the image",
        {.expected = fmt::format("height {}, width {}", size.height, size.width),
         .found = fmt::format("height {}, width {}", output.height, output.width)});
  }
}

}  // namespace

void check(const MxShape& shape) {
  require_value(shape.channels == 1 || shape.channels == 3 || shape.channels == 4,
                "data_shape's first number", "1, 3 or 4 channels", shape.channels);
  require_value(shape.height >= 1 && shape.height <= kLongestSide, "data_shape's height",
                "1 to 32766 pixels", shape.height);
  require_value(shape.width >= 1 && shape.width <= kLongestSide, "data_shape's width",
                "1 to 32766 pixels", shape.width);
}

void check(const AugmentOptions& options, const MxShape& shape) {
  check(shape);
  require_interpolation(options.inter_method);
  require_value(options.resize == -1 || (options.resize >= 1 && options.resize <= kLongestSide),
                "resize", "-1 (off), or 1 to 32766 pixels", options.resize);
  require_affine(options);
  require_value(options.fill_value >= 0 && options.fill_value <= 255, "fill_value", "0 to 255",
                options.fill_value);
  require_value(options.pad <= kLongestSide / 2, "pad", "at most 16383 pixels", options.pad);
  require_crops(options);
  require_colours(options, shape.channels);
  require_stages(options, shape.size());
}

}  // namespace fuelrail::mxnet
