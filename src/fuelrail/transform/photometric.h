// Changes colours in place, by the formulas of torchvision.transforms.functional on uint8 tensors:
// float32, every operation rounded, results clamped to [0, 255] and truncated. Results are
// bit-identical on every processor. All functions require 3 channels.
#pragma once

#include "fuelrail/base/image_view.h"

namespace fuelrail {

// factor * x. Factor 0 gives black, 1 the image itself. Requires, here and in the next two
// functions: factor >= 0.
void adjust_brightness(ImageView image, double factor);

// factor * x + (1 - factor) * mean, where mean is the mean of the image's grey.
void adjust_contrast(ImageView image, double factor);

// factor * x + (1 - factor) * grey of the pixel.
void adjust_saturation(ImageView image, double factor);

// Converts RGB (x / 255) to HSV, adds `turn` to h modulo 1, and converts back (times 255.999).
// Requires: -0.5 <= turn <= 0.5.
void adjust_hue(ImageView image, double turn);

// Sets all three channels to trunc(0.2989 r + 0.587 g + 0.114 b): torchvision's constants, with
// which white becomes 254.
void to_grayscale(ImageView image);

}  // namespace fuelrail
