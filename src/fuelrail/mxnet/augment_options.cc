#include "fuelrail/mxnet/augment_options.h"

#include <fmt/format.h>

#include <limits>

#include "fuelrail/base/error.h"
#include "fuelrail/mxnet/option_checks.h"

namespace fuelrail::mxnet {
namespace {

constexpr int64_t kMostDegrees = 1000000;

void require_affine(const AugmentOptions& options) {
  const float least = options.min_aspect_ratio.value_or(0);
  require_value(
      options.min_aspect_ratio ? options.max_aspect_ratio >= least : options.max_aspect_ratio < 1,
      "max_aspect_ratio", "at least min_aspect_ratio, or below 1 if min_aspect_ratio is not given",
      options.max_aspect_ratio);
  require_value(options.min_img_size <= options.max_img_size, "min_img_size",
                "0 to max_img_size, and at most 32766", options.min_img_size);
}

void require_areas(const AugmentOptions& options) {
  const auto fits = [](float area) { return area > 0 && area <= 1; };
  require_value(fits(options.min_random_area), "min_random_area", "above 0 and at most 1",
                options.min_random_area);
  require_value(fits(options.max_random_area) && options.max_random_area >= options.min_random_area,
                "max_random_area", "min_random_area to 1, and above 0", options.max_random_area);
}

void require_crops(const AugmentOptions& options) {
  const bool sizes = options.max_crop_size != -1 || options.min_crop_size != -1;
  if (options.random_resized_crop) {
    require_areas(options);
    const bool scales = options.min_random_scale != 1 || options.max_random_scale != 1;
    if (sizes || scales || options.rand_crop) {
      throw InvalidArgumentError(
          "random_resized_crop cannot be combined with rand_crop, min_crop_size, max_crop_size, "
          "min_random_scale or max_random_scale",
          {.remedy = "Omit random_resized_crop, or omit the other five parameters"});
    }
  }
  if (!sizes) return;
  require_value(options.max_crop_size != -1, "min_crop_size", "-1 unless max_crop_size is set",
                options.min_crop_size);
  require_value(options.min_crop_size >= 1, "min_crop_size", "at least 1 if max_crop_size is set",
                options.min_crop_size);
  require_value(
      options.max_crop_size >= options.min_crop_size && options.max_crop_size <= kLongestSide,
      "max_crop_size", "min_crop_size to 32766", options.max_crop_size);
}

void require_colours(const AugmentOptions& options, int64_t channels) {
  const bool colours = options.brightness > 0 || options.contrast > 0 || options.saturation > 0 ||
                       options.pca_noise > 0 || options.random_h > 0 || options.random_s > 0 ||
                       options.random_l > 0 || !options.stages.empty();
  if (colours && channels != 3) {
    throw InvalidArgumentError(
        "brightness, contrast, saturation, random_h, random_s, random_l, pca_noise and "
        "user-defined stages need three channels",
        {.expected = "3 channels in data_shape", .found = fmt::format("{}", channels)});
  }
}

void require_stages(const AugmentOptions& options, Size size) {
  for (const auto& stage : options.stages) {
    if (stage == nullptr) throw InvalidArgumentError("an item of `stages` is null");
    const Size output = stage->output_size(size);
    if (output == size) continue;
    throw InvalidArgumentError(
        "an item of `stages` changes the size of the image",
        {.expected = fmt::format("height {}, width {}", size.height, size.width),
         .found = fmt::format("height {}, width {}", output.height, output.width)});
  }
}

}  // namespace

const OptionTable<AugmentOptions>& AugmentOptions::table() {
  using A = AugmentOptions;
  static const auto table =
      OptionTable<A>()
          .any(interpolation_rule(), &A::inter_method)
          .any(shorter_side_rule(), &A::resize)
          .number("rotate", &A::rotate, -1, kMostDegrees,
                  "Angle of a clockwise rotation, in degrees; 0 and below have no effect. The "
                  "parameters from rotate to min_img_size make up one affine map, which is skipped "
                  "if all have their defaults.")
          .number("max_rotate_angle", &A::max_rotate_angle, 0, kMostDegrees,
                  "Rotates by a random whole number of degrees in [-max_rotate_angle, "
                  "max_rotate_angle], unless rotate or rotate_list is set.")
          .any(each(option::number_rule(
                   "rotate_list", "int", -kMostDegrees, kMostDegrees,
                   "Rotates by one of these angles, in degrees, chosen at random. "
                   "Replaces rotate and max_rotate_angle.")),
               &A::rotate_list)
          .number("max_shear_ratio", &A::max_shear_ratio, 0, kMostFactor,
                  "Shears by a random ratio in [-max_shear_ratio, max_shear_ratio].")
          .number("max_random_scale", &A::max_random_scale, kLeastRatio, kMostFactor,
                  "Upper limit of the random factor that scales the image.")
          .number("min_random_scale", &A::min_random_scale, kLeastRatio, kMostFactor,
                  "Lower limit of the random factor that scales the image.")
          .number("max_aspect_ratio", &A::max_aspect_ratio, 0, kMostFactor,
                  "Changes width / height by a random factor in [1 - max_aspect_ratio, 1 + "
                  "max_aspect_ratio], or in [min_aspect_ratio, max_aspect_ratio] if "
                  "min_aspect_ratio is set. With random_resized_crop, the factor applies to the "
                  "crop only.")
          .number("min_aspect_ratio", &A::min_aspect_ratio, kLeastRatio, kMostFactor,
                  "Lower limit of the factor that changes width / height. None means 1 - "
                  "max_aspect_ratio.")
          .number("max_img_size", &A::max_img_size, 1, std::numeric_limits<float>::max(),
                  "Largest side of the affine map's output, in pixels.")
          .number("min_img_size", &A::min_img_size, 0, static_cast<float>(kLongestSide),
                  "Smallest side of the affine map's output, in pixels.")
          .number("pad", &A::pad, INT64_MIN, kLongestSide / 2,
                  "Width of a border added on each side, in pixels. 0 and below mean no border.")
          .number("fill_value", &A::fill_value, 0, 255,
                  "Value of the pixels in the border, and of the output pixels that the affine map "
                  "does not cover. The alpha of these pixels is 0.")
          .flag("random_resized_crop", &A::random_resized_crop,
                "Crops a box of random position, area and aspect ratio, and resizes it to "
                "data_shape. Uses the first of ten random boxes that fits into the image, or a "
                "centre crop if none of them fits. No effect if all limits of area and aspect "
                "ratio are 1.")
          .number("max_random_area", &A::max_random_area,
                  "Largest area that random_resized_crop crops, as a fraction of the image's area.")
          .number(
              "min_random_area", &A::min_random_area,
              "Smallest area that random_resized_crop crops, as a fraction of the image's area.")
          .number("max_crop_size", &A::max_crop_size,
                  "Crops a square with a random side of min_crop_size to max_crop_size pixels and "
                  "resizes it to data_shape. -1 turns this off.")
          .number("min_crop_size", &A::min_crop_size,
                  "Smallest side of the square that max_crop_size crops, in pixels. -1 means off.")
          .flag("rand_crop", &A::rand_crop, "Crops at a random position instead of at the centre.")
          .number("brightness", &A::brightness, 0, kMostFactor,
                  "Multiplies pixels by a random factor in [1 - brightness, 1 + brightness]. "
                  "brightness, contrast and saturation are applied in random order.")
          .number("contrast", &A::contrast, 0, kMostFactor,
                  "Changes the contrast by a random factor in [1 - contrast, 1 + contrast].")
          .number("saturation", &A::saturation, 0, kMostFactor,
                  "Changes the saturation by a random factor in [1 - saturation, 1 + saturation].")
          .number(
              "random_h", &A::random_h, 0, 255,
              "Adds a random number in [-random_h, random_h] to the hue, in units of 2 degrees.")
          .number("random_s", &A::random_s, 0, 255,
                  "Adds a random number in [-random_s, random_s] to the saturation (0 to 255).")
          .number("random_l", &A::random_l, 0, 255,
                  "Adds a random number in [-random_l, random_l] to the lightness (0 to 255).")
          .number("pca_noise", &A::pca_noise, 0, kMostFactor,
                  "Standard deviation of the random factors of AlexNet's lighting noise, which "
                  "shifts colours along ImageNet's principal components.");
  return table;
}

void check(const MxShape& shape) {
  require_value(shape.channels == 1 || shape.channels == 3 || shape.channels == 4, "data_shape[0]",
                "1, 3 or 4 channels", shape.channels);
  require_value(shape.height >= 1 && shape.height <= kLongestSide, "data_shape[1]",
                "a height of 1 to 32766 pixels", shape.height);
  require_value(shape.width >= 1 && shape.width <= kLongestSide, "data_shape[2]",
                "a width of 1 to 32766 pixels", shape.width);
}

void check(const AugmentOptions& options, const MxShape& shape) {
  check(shape);
  AugmentOptions::table().check(options);
  require_affine(options);
  require_crops(options);
  require_colours(options, shape.channels);
  require_stages(options, shape.size());
}

}  // namespace fuelrail::mxnet
