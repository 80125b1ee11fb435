#include "fuelrail/mxnet/colours.h"

#include <algorithm>

#include "fuelrail/mxnet/colours_kernels.h"
#include "fuelrail/transform/cv_color.h"

namespace fuelrail::mxnet {
namespace {

using Levels = std::array<uint8_t, 256>;

void replace_levels(ImageView image, const std::array<Levels, 3>& levels) {
  for (int64_t y = 0; y < image.height; ++y) {
    uint8_t* pixel = image.row(y);
    for (int64_t x = 0; x < image.width; ++x, pixel += 3) {
      for (size_t c = 0; c < 3; ++c) pixel[c] = levels[c][pixel[c]];
    }
  }
}

}  // namespace

void scale_levels(ImageView image, float factor, float offset) {
  for (int64_t y = 0; y < image.height; ++y) {
    scale_level_row(image.row(y), image.width * image.channels, factor, offset);
  }
}

float mean_mxnet_grey(ConstImageView rgb) {
  uint64_t sum = 0;
  for (int64_t y = 0; y < rgb.height; ++y) sum += sum_mxnet_grey_row(rgb.row(y), rgb.width);
  const auto pixels = static_cast<double>(rgb.height * rgb.width);
  return static_cast<float>(static_cast<double>(sum) * (1.0 / pixels));
}

void saturate_colours(ImageView rgb, float factor) {
  for (int64_t y = 0; y < rgb.height; ++y) saturate_row(rgb.row(y), rgb.width, factor);
}

void shift_hls(ImageView rgb, const std::array<int, 3>& hls) {
  constexpr std::array<int, 3> kMost{180, 255, 255};
  std::array<Levels, 3> levels;
  for (size_t c = 0; c < 3; ++c) {
    for (int i = 0; i < 256; ++i) {
      levels[c][static_cast<size_t>(i)] = static_cast<uint8_t>(std::clamp(i + hls[c], 0, kMost[c]));
    }
  }
  cv_rgb_to_hls(rgb, rgb);
  replace_levels(rgb, levels);
  cv_hls_to_rgb(rgb, rgb);
}

void add_light(ImageView rgb, const std::array<float, 3>& light) {
  std::array<Levels, 3> levels;
  for (size_t c = 0; c < 3; ++c) {
    for (int i = 0; i < 256; ++i) {
      const float sum = std::clamp(static_cast<float>(i) + light[c], 0.0f, 255.0f);
      levels[c][static_cast<size_t>(i)] = static_cast<uint8_t>(sum);
    }
  }
  replace_levels(rgb, levels);
}

}  // namespace fuelrail::mxnet
