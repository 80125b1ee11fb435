// Changes of colours in place, by the formulas of torchvision.transforms.functional on uint8
// tensors: float32, every operation rounded, results clamped to [0, 255] and truncated. The same
// bits on every processor. All require 3 channels.
#pragma once

#include "fuelrail/base/image_view.h"

namespace fuelrail {

// factor * x. 0 is black, 1 the image. Requires: factor >= 0, here and below.
void adjust_brightness(ImageView image, double factor);

// factor * x + (1 - factor) * mean, where mean is the mean of the image's grey.
void adjust_contrast(ImageView image, double factor);

// factor * x + (1 - factor) * grey of the pixel.
void adjust_saturation(ImageView image, double factor);

// RGB to HSV, h + turn modulo 1, and back: x / 255 on the way in, * 255.999 on the way out.
// Requires: -0.5 <= turn <= 0.5.
void adjust_hue(ImageView image, double turn);

// grey = trunc(0.2989 r + 0.587 g + 0.114 b) in all three channels: torchvision's constants, with
// which white becomes 254.
void to_grayscale(ImageView image);

}  // namespace fuelrail
