// Processes 16 interleaved pixels at a time as floats, with a vector for each channel. Included
// once for every instruction set, after hwy/highway.h. Private to the core.
#if defined(FUELRAIL_TRANSFORM_RGB_STEPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUELRAIL_TRANSFORM_RGB_STEPS_INL_H_
#undef FUELRAIL_TRANSFORM_RGB_STEPS_INL_H_
#else
#define FUELRAIL_TRANSFORM_RGB_STEPS_INL_H_
#endif

#include <cstring>

#include "fuelrail/transform/row_steps-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fuelrail {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::CappedTag<float, kStep>;
using DI = hn::RebindToSigned<DF>;
using DPart = hn::Rebind<uint8_t, DF>;
using VF = hn::Vec<DF>;

// The conversion of fractions: dropped, or rounded to the nearest integer, ties to even.
enum class Fractions { kCut, kRounded };

// Converts levels in memory to floats, and back with clamping.
HWY_INLINE VF load_floats(const uint8_t* levels) {
  return hn::ConvertTo(DF(), hn::PromoteTo(DI(), hn::LoadU(DPart(), levels)));
}

template <Fractions kFractions>
HWY_INLINE void store_floats(VF v, uint8_t* levels) {
  const DF d;
  const VF clamped = hn::Min(hn::Max(v, hn::Zero(d)), hn::Set(d, 255.0f));
  if constexpr (kFractions == Fractions::kCut) {
    hn::StoreU(hn::DemoteTo(DPart(), hn::ConvertTo(DI(), clamped)), DPart(), levels);
  } else {
    hn::StoreU(hn::DemoteTo(DPart(), hn::NearestInt(clamped)), DPart(), levels);
  }
}

// Calls `change(VF&)` with all levels, a vector at a time.
template <Fractions kFractions, class Change>
HWY_INLINE void change_levels_of_step(uint8_t* levels, Change change) {
  for (int64_t i = 0; i < kStep; i += static_cast<int64_t>(hn::Lanes(DF()))) {
    VF v = load_floats(levels + i);
    change(v);
    store_floats<kFractions>(v, levels + i);
  }
}

template <Fractions kFractions, class Change>
HWY_INLINE void change_levels(uint8_t* levels, int64_t count, Change change) {
  int64_t i = 0;
  for (; i + kStep <= count; i += kStep) change_levels_of_step<kFractions>(levels + i, change);
  if (i == count) return;
  uint8_t last[kStep] = {};
  const auto rest = static_cast<size_t>(count - i);
  std::memcpy(last, levels + i, rest);
  change_levels_of_step<kFractions>(last, change);
  std::memcpy(levels + i, last, rest);
}

struct Rgb {
  VF r, g, b;
};

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

// Calls `change(Rgb&)` with all pixels, with one vector of each channel at a time.
template <Fractions kFractions, class Change>
HWY_INLINE void change_step(uint8_t* pixels, Change change) {
  alignas(16) uint8_t r[kStep], g[kStep], b[kStep];
  take_apart(pixels, r, g, b);
  for (int64_t i = 0; i < kStep; i += static_cast<int64_t>(hn::Lanes(DF()))) {
    Rgb pixel{load_floats(r + i), load_floats(g + i), load_floats(b + i)};
    change(pixel);
    store_floats<kFractions>(pixel.r, r + i);
    store_floats<kFractions>(pixel.g, g + i);
    store_floats<kFractions>(pixel.b, b + i);
  }
  put_together(r, g, b, pixels);
}

template <Fractions kFractions, class Change>
HWY_INLINE void change_pixels(uint8_t* pixels, int64_t count, Change change) {
  int64_t i = 0;
  for (; i + kStep <= count; i += kStep) change_step<kFractions>(pixels + 3 * i, change);
  if (i == count) return;
  uint8_t last[3 * kStep] = {};
  const auto rest = static_cast<size_t>(3 * (count - i));
  std::memcpy(last, pixels + 3 * i, rest);
  change_step<kFractions>(last, change);
  std::memcpy(pixels + 3 * i, last, rest);
}

// The sum over all pixels of `value(const Rgb&)`, which returns a vector of int32 lanes (tag DI),
// each from 0 to 255. Requires: the value of black is 0.
template <class Value>
HWY_INLINE uint64_t sum_pixels(const uint8_t* pixels, int64_t count, Value value) {
  constexpr int64_t kChunk = int64_t{1} << 20;  // sums of a chunk fit in 32 bits
  alignas(16) uint8_t r[kStep], g[kStep], b[kStep];
  uint64_t sum = 0;
  uint8_t last[3 * kStep] = {};
  for (int64_t begin = 0; begin < count; begin += kChunk) {
    const int64_t end = count - begin < kChunk ? count : begin + kChunk;
    auto sums = hn::Zero(DI());
    for (int64_t i = begin; i < end; i += kStep) {
      const uint8_t* step = pixels + 3 * i;
      if (end - i < kStep) {
        std::memcpy(last, step, static_cast<size_t>(3 * (end - i)));
        step = last;
      }
      take_apart(step, r, g, b);
      for (int64_t j = 0; j < kStep; j += static_cast<int64_t>(hn::Lanes(DF()))) {
        const Rgb pixel{load_floats(r + j), load_floats(g + j), load_floats(b + j)};
        sums = hn::Add(sums, value(pixel));
      }
    }
    sum += static_cast<uint64_t>(hn::GetLane(hn::SumOfLanes(DI(), sums)));
  }
  return sum;
}

// pixel * own + grey * of_grey.
HWY_INLINE void blend(Rgb& pixel, VF own, VF grey, VF of_grey) {
  const VF addend = hn::Mul(grey, of_grey);
  pixel.r = hn::Add(hn::Mul(pixel.r, own), addend);
  pixel.g = hn::Add(hn::Mul(pixel.g, own), addend);
  pixel.b = hn::Add(hn::Mul(pixel.b, own), addend);
}

// The value for the first condition that is true, else the last value.
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
