// The kernels process 16 pixels at once, whatever the vector's length. Floats without fused
// multiplications make the results bit-identical on every target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fuelrail/transform/cv_color.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

#include <cstring>
#include <limits>

#include "fuelrail/transform/cv_color.h"
#include "fuelrail/transform/rgb_steps-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fuelrail {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr float kLevel = 1.0f / 255.0f;

// OpenCV 3.4 processes a row in groups of four pixels, and the rest one by one. For the rest it
// subtracts in a different order, which changes the saturation of 3708 colours.
enum class At { kFours, kEnd };

// Source: OpenCV 3.4, modules/imgproc/src/color_hsv.cpp, applied to levels divided by 255.
template <At kAt>
struct ToHls {
  HWY_INLINE void operator()(Rgb& pixel) const {
    const DF d;
    const VF scale = hn::Set(d, kLevel);
    const VF r = hn::Mul(pixel.r, scale);
    const VF g = hn::Mul(pixel.g, scale);
    const VF b = hn::Mul(pixel.b, scale);
    const VF most = hn::Max(hn::Max(r, g), b);
    const VF least = hn::Min(hn::Min(r, g), b);
    const VF span = hn::Sub(most, least);
    const VF sum = hn::Add(most, least);
    const VF half = hn::Set(d, 0.5f);
    const VF lightness = hn::Mul(sum, half);
    const VF two = hn::Set(d, 2.0f);
    const VF rest = kAt == At::kFours ? hn::Sub(two, sum) : hn::Sub(hn::Sub(two, most), least);
    const VF divisor = hn::IfThenElse(hn::Lt(lightness, half), sum, rest);
    const VF degrees = hn::Div(hn::Set(d, 60.0f), span);
    const auto is_red = hn::Eq(most, r);
    const auto is_green = hn::Eq(most, g);
    const VF apart = hn::IfThenElse(is_red, hn::Sub(g, b),
                                    hn::IfThenElse(is_green, hn::Sub(b, r), hn::Sub(r, g)));
    const VF around = hn::IfThenElseZero(hn::Lt(g, b), hn::Set(d, 360.0f));
    const VF begin = hn::IfThenElse(
        is_red, around, hn::IfThenElse(is_green, hn::Set(d, 120.0f), hn::Set(d, 240.0f)));
    const VF hue = hn::Mul(hn::Add(hn::Mul(apart, degrees), begin), half);
    const auto is_coloured = hn::Gt(span, hn::Set(d, std::numeric_limits<float>::epsilon()));
    const VF full = hn::Set(d, 255.0f);
    pixel.r = hn::IfThenElseZero(is_coloured, hue);
    pixel.g = hn::Mul(lightness, full);
    pixel.b = hn::Mul(hn::IfThenElseZero(is_coloured, hn::Div(span, divisor)), full);
  }
};

// Here the rest of a row gives the same results as groups of four.
struct ToRgb {
  HWY_INLINE void operator()(Rgb& pixel) const {
    const DF d;
    const VF lightness = hn::Mul(pixel.g, hn::Set(d, kLevel));
    const VF saturation = hn::Mul(pixel.b, hn::Set(d, kLevel));
    const VF product = hn::Mul(lightness, saturation);
    const VF reach =
        hn::IfThenElse(hn::Le(lightness, hn::Set(d, 0.5f)), product, hn::Sub(saturation, product));
    const VF turned = hn::Mul(pixel.r, hn::Set(d, 6.0f / 180.0f));
    const VF whole = hn::Floor(turned);
    const VF into = hn::Sub(turned, whole);
    const VF six = hn::Set(d, 6.0f);
    const VF sector = hn::IfThenElse(hn::Lt(whole, six), whole, hn::Sub(whole, six));
    const VF slope = hn::Mul(reach, hn::Add(into, into));
    const VF full = hn::Set(d, 255.0f);
    const VF high = hn::Add(lightness, reach);
    const VF low = hn::Sub(lightness, reach);
    const VF falling = hn::Sub(high, slope);
    const VF rising = hn::Add(low, slope);
    const hn::Mask<DF> is[5] = {hn::Eq(sector, hn::Zero(d)), hn::Eq(sector, hn::Set(d, 1.0f)),
                                hn::Eq(sector, hn::Set(d, 2.0f)), hn::Eq(sector, hn::Set(d, 3.0f)),
                                hn::Eq(sector, hn::Set(d, 4.0f))};
    pixel.r = hn::Mul(sector_value(is, high, falling, low, low, rising, high), full);
    pixel.g = hn::Mul(sector_value(is, rising, high, high, falling, low, low), full);
    pixel.b = hn::Mul(sector_value(is, low, low, rising, high, high, falling), full);
  }
};

// Converts a row of `count` pixels in place. It must be a whole row, because OpenCV treats the last
// count % 4 pixels differently.
void RgbToHls(uint8_t* pixels, int64_t count) {
  const int64_t left = count % 4;
  change_pixels<Fractions::kRounded>(pixels, count - left, ToHls<At::kFours>());
  change_pixels<Fractions::kRounded>(pixels + 3 * (count - left), left, ToHls<At::kEnd>());
}
void HlsToRgb(uint8_t* pixels, int64_t count) {
  change_pixels<Fractions::kRounded>(pixels, count, ToRgb());
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fuelrail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace fuelrail {
namespace {

HWY_EXPORT(RgbToHls);
HWY_EXPORT(HlsToRgb);

void convert_rows(ConstImageView from, ImageView to, void (*convert)(uint8_t*, int64_t)) {
  for (int64_t y = 0; y < to.height; ++y) {
    if (from.data != to.data) {
      std::memcpy(to.row(y), from.row(y), static_cast<size_t>(3 * to.width));
    }
    convert(to.row(y), to.width);
  }
}

}  // namespace

void cv_rgb_to_hls(ConstImageView rgb, ImageView hls) {
  convert_rows(rgb, hls, HWY_DYNAMIC_DISPATCH(RgbToHls));
}
void cv_hls_to_rgb(ConstImageView hls, ImageView rgb) {
  convert_rows(hls, rgb, HWY_DYNAMIC_DISPATCH(HlsToRgb));
}

}  // namespace fuelrail
#endif
