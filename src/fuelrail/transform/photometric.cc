// The kernels process 16 adjacent pixels at once, whatever the vector's length.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fuelrail/transform/photometric.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

#include "fuelrail/transform/photometric.h"
#include "fuelrail/transform/rgb_steps-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fuelrail {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE VF grey_of(const Rgb& pixel) {
  const DF d;
  const VF sum =
      hn::Add(hn::Mul(pixel.r, hn::Set(d, 0.2989f)), hn::Mul(pixel.g, hn::Set(d, 0.587f)));
  return hn::Floor(hn::Add(sum, hn::Mul(pixel.b, hn::Set(d, 0.114f))));
}

// Each level becomes trunc(clamp(factor * level + addend)).
void ScaleLevels(uint8_t* levels, int64_t count, float factor, float addend) {
  const DF d;
  const VF times = hn::Set(d, factor);
  const VF plus = hn::Set(d, addend);
  change_levels<Fractions::kCut>(
      levels, count, [&](VF& level) HWY_ATTR { level = hn::Add(hn::Mul(level, times), plus); });
}

// Each level becomes trunc(clamp(factor * level + rest * grey of its pixel)).
void BlendWithGrey(uint8_t* pixels, int64_t count, float factor, float rest) {
  const VF times = hn::Set(DF(), factor);
  const VF others = hn::Set(DF(), rest);
  change_pixels<Fractions::kCut>(
      pixels, count, [&](Rgb& pixel) HWY_ATTR { blend(pixel, times, grey_of(pixel), others); });
}

void MakeGrey(uint8_t* pixels, int64_t count) {
  change_pixels<Fractions::kCut>(
      pixels, count, [](Rgb& pixel) HWY_ATTR { pixel.r = pixel.g = pixel.b = grey_of(pixel); });
}

// torchvision's _rgb2hsv and _hsv2rgb, with operations in the same order.
HWY_INLINE void turn_one(Rgb& pixel, VF turn) {
  const DF d;
  const VF zero = hn::Zero(d);
  const VF one = hn::Set(d, 1.0f);
  const VF six = hn::Set(d, 6.0f);
  const VF scale = hn::Set(d, 255.0f);
  const VF r = hn::Div(pixel.r, scale);
  const VF g = hn::Div(pixel.g, scale);
  const VF b = hn::Div(pixel.b, scale);

  const VF most = hn::Max(hn::Max(r, g), b);
  const VF least = hn::Min(hn::Min(r, g), b);
  const auto is_grey = hn::Eq(most, least);
  const VF range = hn::Sub(most, least);
  const VF s = hn::Div(range, hn::IfThenElse(is_grey, one, most));
  const VF divisor = hn::IfThenElse(is_grey, one, range);
  const VF rc = hn::Div(hn::Sub(most, r), divisor);
  const VF gc = hn::Div(hn::Sub(most, g), divisor);
  const VF bc = hn::Div(hn::Sub(most, b), divisor);
  const VF from_red = hn::Sub(bc, gc);
  const VF from_green = hn::Sub(hn::Add(hn::Set(d, 2.0f), rc), bc);
  const VF from_blue = hn::Sub(hn::Add(hn::Set(d, 4.0f), gc), rc);
  VF h = hn::IfThenElse(hn::Eq(most, r), from_red,
                        hn::IfThenElse(hn::Eq(most, g), from_green, from_blue));
  h = hn::Add(hn::Div(h, six), one);
  h = hn::Sub(h, hn::Floor(h));

  h = hn::Add(h, turn);  // in [-0.5, 1.5)
  h = hn::IfThenElse(hn::Lt(h, zero), hn::Add(h, one), hn::Sub(h, hn::Floor(h)));

  const VF h6 = hn::Mul(h, six);
  const VF sector = hn::Floor(h6);  // 6 if h was rounded up to 1
  const VF f = hn::Sub(h6, sector);
  const auto unit = [&](VF v) HWY_ATTR { return hn::Min(hn::Max(v, zero), one); };
  const VF v = most;
  const VF p = unit(hn::Mul(v, hn::Sub(one, s)));
  const VF q = unit(hn::Mul(v, hn::Sub(one, hn::Mul(s, f))));
  const VF t = unit(hn::Mul(v, hn::Sub(one, hn::Mul(s, hn::Sub(one, f)))));
  const hn::Mask<DF> is[5] = {hn::Or(hn::Eq(sector, zero), hn::Eq(sector, six)),
                              hn::Eq(sector, one), hn::Eq(sector, hn::Set(d, 2.0f)),
                              hn::Eq(sector, hn::Set(d, 3.0f)), hn::Eq(sector, hn::Set(d, 4.0f))};
  const VF full = hn::Set(d, 255.999f);
  pixel.r = hn::Mul(sector_value(is, v, q, p, p, t, v), full);
  pixel.g = hn::Mul(sector_value(is, t, v, v, q, p, p), full);
  pixel.b = hn::Mul(sector_value(is, p, p, t, v, v, q), full);
}

void TurnHue(uint8_t* pixels, int64_t count, float turn) {
  const VF by = hn::Set(DF(), turn);
  change_pixels<Fractions::kCut>(pixels, count, [&](Rgb& pixel) HWY_ATTR { turn_one(pixel, by); });
}

// Returns: the sum of the pixels' grey levels.
uint64_t SumOfGrey(const uint8_t* pixels, int64_t count) {
  return sum_pixels(pixels, count,
                    [](const Rgb& pixel) HWY_ATTR { return hn::ConvertTo(DI(), grey_of(pixel)); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fuelrail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace fuelrail {
namespace {

HWY_EXPORT(ScaleLevels);
HWY_EXPORT(BlendWithGrey);
HWY_EXPORT(TurnHue);
HWY_EXPORT(MakeGrey);
HWY_EXPORT(SumOfGrey);

// Calls visit(pixels, count) for each run of adjacent pixels: the whole image, or each row.
template <typename Visit>
void for_each_run(ImageView image, Visit visit) {
  if (image.row_stride_bytes == image.width * 3) {
    visit(image.data, image.height * image.width);
  } else {
    for (int64_t y = 0; y < image.height; ++y) visit(image.row(y), image.width);
  }
}

void scale(ImageView image, float factor, float addend) {
  for_each_run(image, [&](uint8_t* pixels, int64_t count) {
    HWY_DYNAMIC_DISPATCH(ScaleLevels)(pixels, 3 * count, factor, addend);
  });
}

}  // namespace

void adjust_brightness(ImageView image, double factor) {
  scale(image, static_cast<float>(factor), 0.0f);
}

void adjust_contrast(ImageView image, double factor) {
  uint64_t sum = 0;
  for_each_run(image, [&](const uint8_t* pixels, int64_t count) {
    sum += HWY_DYNAMIC_DISPATCH(SumOfGrey)(pixels, count);
  });
  const auto mean = static_cast<float>(static_cast<double>(sum) /
                                       static_cast<double>(image.height * image.width));
  scale(image, static_cast<float>(factor), static_cast<float>(1.0 - factor) * mean);
}

void adjust_saturation(ImageView image, double factor) {
  for_each_run(image, [&](uint8_t* pixels, int64_t count) {
    HWY_DYNAMIC_DISPATCH(BlendWithGrey)
    (pixels, count, static_cast<float>(factor), static_cast<float>(1.0 - factor));
  });
}

void adjust_hue(ImageView image, double turn) {
  for_each_run(image, [&](uint8_t* pixels, int64_t count) {
    HWY_DYNAMIC_DISPATCH(TurnHue)(pixels, count, static_cast<float>(turn));
  });
}

void to_grayscale(ImageView image) {
  for_each_run(image, [](uint8_t* pixels, int64_t count) {
    HWY_DYNAMIC_DISPATCH(MakeGrey)(pixels, count);
  });
}

}  // namespace fuelrail
#endif
