// 16 interleaved pixels at a time as floats, a vector of each channel. Included once for every
// instruction set, behind hwy/highway.h. Private to the module.
#if defined(FUELRAIL_TRANSFORM_RGB_STEPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUELRAIL_TRANSFORM_RGB_STEPS_INL_H_
#undef FUELRAIL_TRANSFORM_RGB_STEPS_INL_H_
#else
#define FUELRAIL_TRANSFORM_RGB_STEPS_INL_H_
#endif

#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace fuelrail {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kStep = 16;
using DF = hn::CappedTag<float, kStep>;
using DI = hn::RebindToSigned<DF>;
using DPart = hn::Rebind<uint8_t, DF>;
using VF = hn::Vec<DF>;

// Levels in memory as floats, and back: clamped and truncated.
HWY_INLINE VF load_floats(const uint8_t* levels) {
  return hn::ConvertTo(DF(), hn::PromoteTo(DI(), hn::LoadU(DPart(), levels)));
}

HWY_INLINE void store_floats(VF v, uint8_t* levels) {
  const DF d;
  const VF clamped = hn::Min(hn::Max(v, hn::Zero(d)), hn::Set(d, 255.0f));
  hn::StoreU(hn::DemoteTo(DPart(), hn::ConvertTo(DI(), clamped)), DPart(), levels);
}

struct Rgb {
  VF r, g, b;
};

#if HWY_TARGET == HWY_SCALAR

HWY_INLINE void take_apart(const uint8_t* pixels, uint8_t* r, uint8_t* g, uint8_t* b) {
  for (int64_t i = 0; i < kStep; ++i) {
    r[i] = pixels[3 * i];
    g[i] = pixels[3 * i + 1];
    b[i] = pixels[3 * i + 2];
  }
}

HWY_INLINE void put_together(const uint8_t* r, const uint8_t* g, const uint8_t* b,
                             uint8_t* pixels) {
  for (int64_t i = 0; i < kStep; ++i) {
    pixels[3 * i] = r[i];
    pixels[3 * i + 1] = g[i];
    pixels[3 * i + 2] = b[i];
  }
}

#else

using D8 = hn::FixedTag<uint8_t, kStep>;

HWY_INLINE void take_apart(const uint8_t* pixels, uint8_t* r, uint8_t* g, uint8_t* b) {
  hn::Vec<D8> red, green, blue;
  hn::LoadInterleaved3(D8(), pixels, red, green, blue);
  hn::Store(red, D8(), r);
  hn::Store(green, D8(), g);
  hn::Store(blue, D8(), b);
}

HWY_INLINE void put_together(const uint8_t* r, const uint8_t* g, const uint8_t* b,
                             uint8_t* pixels) {
  hn::StoreInterleaved3(hn::Load(D8(), r), hn::Load(D8(), g), hn::Load(D8(), b), D8(), pixels);
}

#endif

// Calls `change(Rgb&)` with all pixels, a vector of each channel at a time.
template <class Change>
HWY_INLINE void change_step(uint8_t* pixels, Change change) {
  alignas(16) uint8_t r[kStep], g[kStep], b[kStep];
  take_apart(pixels, r, g, b);
  for (int64_t i = 0; i < kStep; i += static_cast<int64_t>(hn::Lanes(DF()))) {
    Rgb pixel{load_floats(r + i), load_floats(g + i), load_floats(b + i)};
    change(pixel);
    store_floats(pixel.r, r + i);
    store_floats(pixel.g, g + i);
    store_floats(pixel.b, b + i);
  }
  put_together(r, g, b, pixels);
}

template <class Change>
HWY_INLINE void change_pixels(uint8_t* pixels, int64_t count, Change change) {
  int64_t i = 0;
  for (; i + kStep <= count; i += kStep) change_step(pixels + 3 * i, change);
  if (i == count) return;
  uint8_t last[3 * kStep] = {};
  const auto rest = static_cast<size_t>(3 * (count - i));
  std::memcpy(last, pixels + 3 * i, rest);
  change_step(last, change);
  std::memcpy(pixels + 3 * i, last, rest);
}

// The value of the first of four whose condition is true, else the last.
HWY_INLINE VF sector_value(const hn::Mask<DF>* is, const VF& v0, const VF& v1, const VF& v2,
                           const VF& v3, const VF& v4, const VF& v5) {
  const VF upper = hn::IfThenElse(is[3], v3, hn::IfThenElse(is[4], v4, v5));
  return hn::IfThenElse(is[0], v0, hn::IfThenElse(is[1], v1, hn::IfThenElse(is[2], v2, upper)));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fuelrail
HWY_AFTER_NAMESPACE();

#endif
