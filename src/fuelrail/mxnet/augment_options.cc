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
          .any(interpolation_rule(), &A::inter_method)
          .any(shorter_side_rule(), &A::resize)
          .number("rotate", &A::rotate, -1, kMostDegrees,
                  "Turns by so many degrees, clockwise, if above 0. This and what follows to "
                  "min_img_size are one affine map; there is none where all have their defaults.")
          .number("max_rotate_angle", &A::max_rotate_angle, 0, kMostDegrees,
                  "Turns by a whole number of degrees in [-it, it], unless rotate does.")
          .any(each(option::number_rule("rotate_list", "int", -kMostDegrees, kMostDegrees,
                                        "Turns by one of these, in place of both.")),
               &A::rotate_list)
          .number("max_shear_ratio", &A::max_shear_ratio, 0, kMostFactor,
                  "Shears by a ratio in [-it, it].")
          .number("max_random_scale", &A::max_random_scale, kLeastRatio, kMostFactor,
                  "Largest factor of the size.")
          .number("min_random_scale", &A::min_random_scale, kLeastRatio, kMostFactor,
                  "Smallest factor of the size.")
          .number("max_aspect_ratio", &A::max_aspect_ratio, 0, kMostFactor,
                  "Changes width / height by a factor in [1 - it, 1 + it], or in "
                  "[min_aspect_ratio, it]; with random_resized_crop that of the crop alone.")
          .number("min_aspect_ratio", &A::min_aspect_ratio, kLeastRatio, kMostFactor,
                  "Smallest factor of width / height; None: 1 - max_aspect_ratio.")
          .number("max_img_size", &A::max_img_size, 1, std::numeric_limits<float>::max(),
                  "Most pixels of a side that the map makes.")
          .number("min_img_size", &A::min_img_size, 0, static_cast<float>(kLongestSide),
                  "Least pixels of a side that the map makes.")
          .number("pad", &A::pad, INT64_MIN, kLongestSide / 2,
                  "Pixels of border on each side; not above 0: no border.")
          .number("fill_value", &A::fill_value, 0, 255,
                  "Level of the border and of what the map leaves empty; alpha is 0 there.")
          .flag("random_resized_crop", &A::random_resized_crop,
                "A crop of random place, area and aspect ratio, resized to the shape: the first of "
                "ten that fits, else the middle. No effect where its limits are all 1.")
          .number("max_random_area", &A::max_random_area, "Its area, at most, of the image's.")
          .number("min_random_area", &A::min_random_area, "Its area, at least, of the image's.")
          .number("max_crop_size", &A::max_crop_size,
                  "A square of random side, at most this, is resized to the shape; -1: off.")
          .number("min_crop_size", &A::min_crop_size, "The square's side, at least; -1: off.")
          .flag("rand_crop", &A::rand_crop, "Crops lie at random instead of in the middle.")
          .number("brightness", &A::brightness, 0, kMostFactor,
                  "A factor in [1 - it, 1 + it]; these three come in random order.")
          .number("contrast", &A::contrast, 0, kMostFactor, "A factor in [1 - it, 1 + it].")
          .number("saturation", &A::saturation, 0, kMostFactor, "A factor in [1 - it, 1 + it].")
          .number("random_h", &A::random_h, 0, 255, "Half degrees added to hue, in [-it, it].")
          .number("random_s", &A::random_s, 0, 255, "Levels added to saturation, in [-it, it].")
          .number("random_l", &A::random_l, 0, 255, "Levels added to lightness, in [-it, it].")
          .number("pca_noise", &A::pca_noise, 0, kMostFactor,
                  "Standard deviation of AlexNet's lighting noise, a multiple of its colour axes.");
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
  require_affine(options);
  require_crops(options);
  require_colours(options, shape.channels);
  require_stages(options, shape.size());
}

}  // namespace fuelrail::mxnet
