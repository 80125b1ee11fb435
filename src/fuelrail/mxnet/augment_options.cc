#include "fuelrail/mxnet/augment_options.h"

#include <fmt/format.h>

#include <limits>

#include "fuelrail/base/error.h"
#include "fuelrail/mxnet/option_checks.h"

namespace fuelrail::mxnet {
namespace {

constexpr int64_t kMostDegrees = 1000000;

void require_affine(const AugmentOptions& options) {
  for (const int64_t angle : options.rotate_list) {
    require_value(angle >= -kMostDegrees && angle <= kMostDegrees, "rotate_list",
                  "at most a million degrees", angle);
  }
  const float least = options.min_aspect_ratio.value_or(0);
  require_value(
      options.min_aspect_ratio ? options.max_aspect_ratio >= least : options.max_aspect_ratio < 1,
      "max_aspect_ratio", "at least min_aspect_ratio; below 1, where that is not given",
      options.max_aspect_ratio);
  require_value(options.min_img_size <= options.max_img_size, "min_img_size",
                "from 0 to max_img_size, and at most 32766", options.min_img_size);
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

const OptionTable<AugmentOptions>& AugmentOptions::table() {
  using A = AugmentOptions;
  static const auto table =
      OptionTable<A>()
          .number("resize", &A::resize, -1, kLongestSide)
          .number("rotate", &A::rotate, -1, kMostDegrees)
          .number("max_rotate_angle", &A::max_rotate_angle, 0, kMostDegrees)
          .any({.name = "rotate_list", .kind = "ints"}, &A::rotate_list)
          .number("max_shear_ratio", &A::max_shear_ratio, 0, kMostFactor)
          .number("max_random_scale", &A::max_random_scale, kLeastRatio, kMostFactor)
          .number("min_random_scale", &A::min_random_scale, kLeastRatio, kMostFactor)
          .number("max_aspect_ratio", &A::max_aspect_ratio, 0, kMostFactor)
          .number("min_aspect_ratio", &A::min_aspect_ratio, kLeastRatio, kMostFactor)
          .number("max_img_size", &A::max_img_size, 1, std::numeric_limits<float>::max())
          .number("min_img_size", &A::min_img_size, 0, static_cast<float>(kLongestSide))
          .number("pad", &A::pad, INT64_MIN, kLongestSide / 2)
          .number("fill_value", &A::fill_value, 0, 255)
          .flag("random_resized_crop", &A::random_resized_crop)
          .number("max_random_area", &A::max_random_area)
          .number("min_random_area", &A::min_random_area)
          .number("max_crop_size", &A::max_crop_size)
          .number("min_crop_size", &A::min_crop_size)
          .flag("rand_crop", &A::rand_crop)
          .number("inter_method", &A::inter_method)
          .number("brightness", &A::brightness, 0, kMostFactor)
          .number("contrast", &A::contrast, 0, kMostFactor)
          .number("saturation", &A::saturation, 0, kMostFactor)
          .number("random_h", &A::random_h, 0, 255)
          .number("random_s", &A::random_s, 0, 255)
          .number("random_l", &A::random_l, 0, 255)
          .number("pca_noise", &A::pca_noise, 0, kMostFactor);
  return table;
}

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
  AugmentOptions::table().check(options);
  require_interpolation(options.inter_method);
  require_value(options.resize != 0, "resize", "-1 (off), or 1 to 32766 pixels", options.resize);
  require_affine(options);
  require_crops(options);
  require_colours(options, shape.channels);
  require_stages(options, shape.size());
}

}  // namespace fuelrail::mxnet
