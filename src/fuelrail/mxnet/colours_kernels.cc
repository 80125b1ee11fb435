// The kernels take 16 pixels at once, whatever the vector's length.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fuelrail/mxnet/colours_kernels.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

#include "fuelrail/mxnet/colours_kernels.h"
#include "fuelrail/transform/rgb_steps-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fuelrail::mxnet {
namespace HWY_NAMESPACE {
namespace {

using namespace fuelrail::HWY_NAMESPACE;  // the steps of transform/
namespace hn = hwy::HWY_NAMESPACE;

// cvtColor's, of 14 bits of fraction, with the weights of red and blue exchanged. Whole numbers
// below 2^24: exact in float32; the conversion cuts.
HWY_INLINE hn::Vec<DI> mxnet_grey_of(const Rgb& pixel) {
  const DF d;
  const VF red_and_green =
      hn::Add(hn::Mul(pixel.r, hn::Set(d, 1868.0f)), hn::Mul(pixel.g, hn::Set(d, 9617.0f)));
  const VF blue_and_half = hn::Add(hn::Mul(pixel.b, hn::Set(d, 4899.0f)), hn::Set(d, 8192.0f));
  return hn::ConvertTo(DI(), hn::Mul(hn::Add(red_and_green, blue_and_half), hn::Set(d, 0x1p-14f)));
}

void ScaleRow(uint8_t* row, int64_t count, float factor, float offset) {
  const VF times = hn::Set(DF(), factor);
  const VF plus = hn::Set(DF(), offset);
  change_levels<Fractions::kRounded>(
      row, count, [&](VF& level) HWY_ATTR { level = hn::Add(hn::Mul(level, times), plus); });
}

uint64_t SumGreyRow(const uint8_t* rgb, int64_t width) {
  return sum_pixels(rgb, width, [](const Rgb& pixel) HWY_ATTR { return mxnet_grey_of(pixel); });
}

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

HWY_EXPORT(ScaleRow);
HWY_EXPORT(SumGreyRow);
HWY_EXPORT(SaturateRow);

void scale_level_row(uint8_t* row, int64_t count, float factor, float offset) {
  HWY_DYNAMIC_DISPATCH(ScaleRow)(row, count, factor, offset);
}

uint64_t sum_mxnet_grey_row(const uint8_t* rgb, int64_t width) {
  return HWY_DYNAMIC_DISPATCH(SumGreyRow)(rgb, width);
}

void saturate_row(uint8_t* rgb, int64_t width, float factor) {
  HWY_DYNAMIC_DISPATCH(SaturateRow)(rgb, width, factor);
}

}  // namespace fuelrail::mxnet
#endif
