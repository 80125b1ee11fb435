// What MXNet's default augmenter ("aug_default") is told: its parameters under their own names,
// with its defaults. What each does, to the formula: docs/mxnet_augmentation.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "fuelrail/base/option.h"
#include "fuelrail/mxnet/mx_shape.h"
#include "fuelrail/transform/pixel_stage.h"

namespace fuelrail::mxnet {

// In the order in which they take effect. Random numbers are uniform unless said otherwise.
struct AugmentOptions {
  // How pixels are resampled, in every step: 0 nearest, 1 linear, 2 cubic, 3 area, 4 Lanczos, 9
  // cubic where both sides grow, area where both shrink, else linear; 10 one of 0 to 4 at random.
  int64_t inter_method = 1;

  // The shorter side becomes so many pixels, the other one keeps the ratio, cut to a whole number.
  // Default: off.
  int64_t resize = -1;

  // One affine map: turned (degrees, clockwise), sheared, scaled, stretched. It takes place if any
  // of these differs from its default (the aspect ratio: unless random_resized_crop takes it).
  int64_t rotate = -1;                 // by so many degrees, if above 0; else
  int64_t max_rotate_angle = 0;        // by a whole number in [-it, it]
  std::vector<int64_t> rotate_list{};  // by one of these; goes before both
  float max_shear_ratio = 0;           // by a ratio in [-it, it]
  float max_random_scale = 1;          // the size, by a factor in [min, max]
  float min_random_scale = 1;
  float max_aspect_ratio = 0;               // width / height: in [1 - max, 1 + max],
  std::optional<float> min_aspect_ratio{};  // with this one in [min, max]
  float max_img_size = 1e10f;               // limits to both sides of the result, in pixels
  float min_img_size = 0;

  // What the map leaves empty and what `pad` adds; alpha is 0 there.
  int64_t fill_value = 255;
  int64_t pad = 0;  // pixels on every side; not above 0: none

  // A crop of random place, area (a fraction of the image) and aspect ratio, resized to the shape;
  // ten tries, then the middle. Off in effect while all four limits are 1.
  bool random_resized_crop = false;
  float max_random_area = 1;
  float min_random_area = 1;

  // Else a square of random side in [min, max], resized to the shape. Default: off.
  int64_t max_crop_size = -1;
  int64_t min_crop_size = -1;

  // Crops (the square, or else the shape itself, from an image made large enough) lie at a random
  // place instead of in the middle.
  bool rand_crop = false;

  // Factors in [1 - it, 1 + it], in random order.
  float brightness = 0;
  float contrast = 0;
  float saturation = 0;

  // Added to hue (half degrees), saturation and lightness (of 255): at most that much, up or down.
  int64_t random_h = 0;
  int64_t random_s = 0;
  int64_t random_l = 0;

  // Standard deviation of AlexNet's lighting noise, a multiple of its colour axes.
  float pca_noise = 0;

  // The user's own, after all of the above: three channels in, three out, of the shape's size.
  std::vector<std::shared_ptr<const PixelStage>> stages{};

  static const OptionTable<AugmentOptions>& table();  // of all but the stages
};

// Errors: InvalidArgumentError, naming the parameter: a value without a meaning; parameters that
// exclude each other (random_resized_crop, and rand_crop or crop sizes or scales; crop sizes of
// which one is missing); colours of an image that has not three channels; a stage that changes the
// size. Those of check(shape).
void check(const AugmentOptions& options, const MxShape& shape);

}  // namespace fuelrail::mxnet
