// Colour changes of 8-bit images, computed as OpenCV 3.4 does for MXNet's augmenters. All work in
// place. Private to the module.
#pragma once

#include <array>

#include "fuelrail/base/image_view.h"

namespace fuelrail::mxnet {

// cv::Mat::convertTo: factor * level + offset in float32, rounded to the nearest integer (ties to
// even) and clamped to 0 to 255. Any number of channels.
void scale_levels(ImageView image, float factor, float offset);

// The mean over the image of cvtColor's 8-bit grey, (4899 x + 9617 y + 1868 z + 8192) / 2^14. MXNet
// passes the channels in the wrong order: x is blue, y green, z red. The mean is the exact sum
// times 1 / pixels. Requires: 3 channels.
float mean_mxnet_grey(ConstImageView rgb);

// cv::addWeighted of the image and the same grey: factor * level + (1 - factor) * grey in float32,
// rounded and clamped as by scale_levels. Requires: 3 channels.
void saturate_colours(ImageView rgb, float factor);

// Adds `hls` to hue, lightness and saturation (cv_color.h). The sums are clamped to 0 to 180, 0 to
// 255 and 0 to 255. Requires: 3 channels.
void shift_hls(ImageView rgb, const std::array<int, 3>& hls);

// Adds `light` to red, green and blue in float32. The sums are clamped to 0 to 255 and rounded
// towards 0. Requires: 3 channels.
void add_light(ImageView rgb, const std::array<float, 3>& light);

}  // namespace fuelrail::mxnet
