// Colour changes of 8-bit images, computed as OpenCV 3.4 does for MXNet's augmenters. All changes
// are made in place. Private to the module.
#pragma once

#include <array>

#include "fuelrail/base/image_view.h"

namespace fuelrail::mxnet {

// Replaces each level with factor * level + offset, as cv::Mat::convertTo does: computed in
// float32, rounded to the nearest integer (ties to even) and clamped to 0 to 255. Accepts any
// number of channels.
void scale_levels(ImageView image, float factor, float offset);

// The mean of the pixels' 8-bit grey, which cvtColor computes for MXNet as (4899 blue + 9617 green
// + 1868 red + 8192) / 2^14, truncated. (MXNet passes the channels in the wrong order, so red and
// blue have each other's weight.) The mean is the exact sum times 1 / (number of pixels). Requires:
// 3 channels.
float mean_mxnet_grey(ConstImageView rgb);

// Replaces each level with factor * level + (1 - factor) * grey, as cv::addWeighted does. `grey` is
// the pixel's grey as in mean_mxnet_grey. Computes in float32, then rounds and clamps as
// scale_levels does. Requires: 3 channels.
void saturate_colours(ImageView rgb, float factor);

// Adds the numbers in `hls` to hue, lightness and saturation (cv_color.h). Clamps hue to 0 to 180,
// and lightness and saturation to 0 to 255. Requires: 3 channels.
void shift_hls(ImageView rgb, const std::array<int, 3>& hls);

// Adds the numbers in `light` to red, green and blue in float32. Clamps the sums to 0 to 255 and
// rounds them towards 0. Requires: 3 channels.
void add_light(ImageView rgb, const std::array<float, 3>& light);

}  // namespace fuelrail::mxnet
