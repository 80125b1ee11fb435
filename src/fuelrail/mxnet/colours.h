// Changes of colour of 8-bit images as OpenCV 3.4 computes them for MXNet's augmenters. All in
// place. Private to the module.
#pragma once

#include <array>

#include "fuelrail/base/image_view.h"

namespace fuelrail::mxnet {

// cv::Mat::convertTo: factor * level + offset in float32, rounded to the nearest (the even one of
// two), cut to 0 to 255. Any channels.
void scale_levels(ImageView image, float factor, float offset);

// cvtColor's grey of 8 bits, (4899 x + 9617 y + 1868 z + 8192) / 2^14, of which MXNet takes the
// channels in the wrong order: x is blue, y green, z red. Here its mean over the image: the exact
// sum times 1 / pixels. Requires: 3 channels.
float mean_mxnet_grey(ConstImageView rgb);

// cv::addWeighted of the image and that grey: factor * level + (1 - factor) * grey in float32,
// rounded and cut as above. Requires: 3 channels.
void saturate_colours(ImageView rgb, float factor);

// Adds to hue, lightness and saturation (cv_color.h), each cut to 0 to 180, 255 and 255.
// Requires: 3 channels.
void shift_hls(ImageView rgb, const std::array<int, 3>& hls);

// Adds to red, green and blue in float32, cut to whole numbers towards 0, then to 0 to 255.
// Requires: 3 channels.
void add_light(ImageView rgb, const std::array<float, 3>& light);

}  // namespace fuelrail::mxnet
