// The kernels process 16 pixels of a row at a time, for any vector length.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fuelrail/mxnet/colours.cc"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>

#include "fuelrail/mxnet/colours.h"
#include "fuelrail/transform/cv_color.h"
#include "fuelrail/transform/rgb_steps-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fuelrail::mxnet {
namespace HWY_NAMESPACE {
namespace {

using namespace fuelrail::HWY_NAMESPACE;  // the steps in transform/
namespace hn = hwy::HWY_NAMESPACE;

// cvtColor's grey with 14 fraction bits and the weights of red and blue swapped. The sums are
// integers below 2^24, so they are exact in float32. The conversion to integers truncates.
HWY_INLINE hn::Vec<DI> mxnet_grey_of(const Rgb& pixel) {
  const DF d;
  const VF red_and_green =
      hn::Add(hn::Mul(pixel.r, hn::Set(d, 1868.0f)), hn::Mul(pixel.g, hn::Set(d, 9617.0f)));
  const VF blue_and_half = hn::Add(hn::Mul(pixel.b, hn::Set(d, 4899.0f)), hn::Set(d, 8192.0f));
  return hn::ConvertTo(DI(), hn::Mul(hn::Add(red_and_green, blue_and_half), hn::Set(d, 0x1p-14f)));
}

// Replaces `count` levels with factor * level + offset. Requires, here and below: the results are
// finite.
void ScaleRow(uint8_t* row, int64_t count, float factor, float offset) {
  const VF times = hn::Set(DF(), factor);
  const VF plus = hn::Set(DF(), offset);
  change_levels<Fractions::kRounded>(
      row, count, [&](VF& level) HWY_ATTR { level = hn::Add(hn::Mul(level, times), plus); });
}

// The sum of MXNet's grey over a row.
uint64_t SumGreyRow(const uint8_t* rgb, int64_t width) {
  return sum_pixels(rgb, width, [](const Rgb& pixel) HWY_ATTR { return mxnet_grey_of(pixel); });
}

// Replaces levels with factor * level + (1 - factor) * MXNet's grey.
void SaturateRow(uint8_t* rgb, int64_t width, float factor) {
  const VF own = hn::Set(DF(), factor);
  const VF of_grey = hn::Set(DF(), 1 - factor);
  change_pixels<Fractions::kRounded>(rgb, width, [&](Rgb& pixel) HWY_ATTR {
    blend(pixel, own, hn::ConvertTo(DF(), mxnet_grey_of(pixel)), of_grey);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fuelrail::mxnet
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace fuelrail::mxnet {
namespace {

HWY_EXPORT(ScaleRow);
HWY_EXPORT(SumGreyRow);
HWY_EXPORT(SaturateRow);

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
    HWY_DYNAMIC_DISPATCH(ScaleRow)
    (image.row(y), image.width * image.channels, factor, offset);
  }
}

float mean_mxnet_grey(ConstImageView rgb) {
  uint64_t sum = 0;
  for (int64_t y = 0; y < rgb.height; ++y) {
    sum += HWY_DYNAMIC_DISPATCH(SumGreyRow)(rgb.row(y), rgb.width);
  }
  const auto pixels = static_cast<double>(rgb.height * rgb.width);
  return static_cast<float>(static_cast<double>(sum) * (1.0 / pixels));
}

void saturate_colours(ImageView rgb, float factor) {
  for (int64_t y = 0; y < rgb.height; ++y) {
    HWY_DYNAMIC_DISPATCH(SaturateRow)(rgb.row(y), rgb.width, factor);
  }
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
#endif
