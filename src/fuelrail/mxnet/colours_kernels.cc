// The kernels take 16 pixels at once, whatever the vector's length.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fuelrail/mxnet/colours_kernels.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>

#include "fuelrail/mxnet/colours_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace fuelrail {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// To the nearest integer, the even one of two, and into a byte. The sum with 3 * 2^22 has no bits
// for fractions.
uint8_t to_level(float value) {
  constexpr float kNoFractions = 0x1.8p23f;
  const float within = std::clamp(value, 0.0f, 255.0f);
  return static_cast<uint8_t>((within + kNoFractions) - kNoFractions);
}

// cvtColor's, of 14 bits of fraction, with the weights of red and blue exchanged.
int mxnet_grey(const uint8_t* rgb) {
  return (rgb[2] * 4899 + rgb[1] * 9617 + rgb[0] * 1868 + (1 << 13)) >> 14;
}

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

int64_t ScaleSteps(uint8_t*, int64_t, float, float) { return 0; }
int64_t SumGreySteps(const uint8_t*, int64_t, uint64_t&) { return 0; }
int64_t SaturateSteps(uint8_t*, int64_t, float) { return 0; }

#else

constexpr int64_t kStep = 16;
using D8 = hn::FixedTag<uint8_t, kStep>;
using V8 = hn::Vec<D8>;
using DF = hn::CappedTag<float, kStep>;
using VF = hn::Vec<DF>;
using DI = hn::RebindToSigned<DF>;
using DPart = hn::Rebind<uint8_t, DF>;
using VPart = hn::Vec<DPart>;
constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(DF()));

HWY_INLINE VF to_floats(VPart levels) { return hn::ConvertTo(DF(), hn::PromoteTo(DI(), levels)); }

HWY_INLINE VPart to_levels(VF values) {
  const DF d;
  const VF within = hn::Min(hn::Max(values, hn::Zero(d)), hn::Set(d, 255.0f));
  return hn::DemoteTo(DPart(), hn::NearestInt(within));
}

// Whole numbers below 2^24: exact in float32; the conversion cuts.
HWY_INLINE hn::Vec<DI> grey_of(VF red, VF green, VF blue) {
  const DF d;
  const VF sum =
      hn::Add(hn::Add(hn::Mul(red, hn::Set(d, 1868.0f)), hn::Mul(green, hn::Set(d, 9617.0f))),
              hn::Add(hn::Mul(blue, hn::Set(d, 4899.0f)), hn::Set(d, 8192.0f)));
  return hn::ConvertTo(DI(), hn::Mul(sum, hn::Set(d, 0x1p-14f)));
}

// Three channels of 16 pixels, one after the other in memory, so that parts of them can be taken.
struct Planes {
  alignas(16) uint8_t channel[3][kStep];

  HWY_INLINE void load(const uint8_t* rgb) {
    V8 red, green, blue;
    hn::LoadInterleaved3(D8(), rgb, red, green, blue);
    hn::Store(red, D8(), channel[0]);
    hn::Store(green, D8(), channel[1]);
    hn::Store(blue, D8(), channel[2]);
  }
  HWY_INLINE VF part(size_t c, int64_t at) const {
    return to_floats(hn::Load(DPart(), channel[c] + at));
  }
  HWY_INLINE void store(uint8_t* rgb) const {
    hn::StoreInterleaved3(hn::Load(D8(), channel[0]), hn::Load(D8(), channel[1]),
                          hn::Load(D8(), channel[2]), D8(), rgb);
  }
};

int64_t ScaleSteps(uint8_t* row, int64_t count, float factor, float offset) {
  const DF d;
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const VF level = to_floats(hn::LoadU(DPart(), row + i));
    const VF value = hn::Add(hn::Mul(level, hn::Set(d, factor)), hn::Set(d, offset));
    hn::StoreU(to_levels(value), DPart(), row + i);
  }
  return i;
}

int64_t SumGreySteps(const uint8_t* rgb, int64_t width, uint64_t& sum) {
  // A lane takes a pixel or less a step, of 255 at most: rows are far too short to overflow it.
  hn::Vec<DI> sums = hn::Zero(DI());
  Planes planes;
  int64_t x = 0;
  for (; x + kStep <= width; x += kStep) {
    planes.load(rgb + 3 * x);
    for (int64_t at = 0; at < kStep; at += kLanes) {
      sums = hn::Add(sums, grey_of(planes.part(0, at), planes.part(1, at), planes.part(2, at)));
    }
  }
  alignas(64) int32_t lanes[kLanes];
  hn::Store(sums, DI(), lanes);
  for (const int32_t lane : lanes) sum += static_cast<uint64_t>(lane);
  return x;
}

int64_t SaturateSteps(uint8_t* rgb, int64_t width, float factor) {
  const DF d;
  const VF own = hn::Set(d, factor);
  const VF of_grey = hn::Set(d, 1 - factor);
  Planes planes;
  int64_t x = 0;
  for (; x + kStep <= width; x += kStep) {
    planes.load(rgb + 3 * x);
    for (int64_t at = 0; at < kStep; at += kLanes) {
      const VF levels[3] = {planes.part(0, at), planes.part(1, at), planes.part(2, at)};
      const VF grey = hn::Mul(hn::ConvertTo(d, grey_of(levels[0], levels[1], levels[2])), of_grey);
      for (size_t c = 0; c < 3; ++c) {
        const VF value = hn::Add(hn::Mul(levels[c], own), grey);
        hn::Store(to_levels(value), DPart(), planes.channel[c] + at);
      }
    }
    planes.store(rgb + 3 * x);
  }
  return x;
}

#endif

void ScaleRow(uint8_t* row, int64_t count, float factor, float offset) {
  for (int64_t i = ScaleSteps(row, count, factor, offset); i < count; ++i) {
    row[i] = to_level(static_cast<float>(row[i]) * factor + offset);
  }
}

uint64_t SumGreyRow(const uint8_t* rgb, int64_t width) {
  uint64_t sum = 0;
  for (int64_t x = SumGreySteps(rgb, width, sum); x < width; ++x) {
    sum += static_cast<uint64_t>(mxnet_grey(rgb + 3 * x));
  }
  return sum;
}

void SaturateRow(uint8_t* rgb, int64_t width, float factor) {
  for (int64_t x = SaturateSteps(rgb, width, factor); x < width; ++x) {
    uint8_t* const pixel = rgb + 3 * x;
    const float grey = static_cast<float>(mxnet_grey(pixel)) * (1 - factor);
    for (int64_t c = 0; c < 3; ++c) {
      pixel[c] = to_level(static_cast<float>(pixel[c]) * factor + grey);
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fuelrail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace fuelrail {

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

}  // namespace fuelrail
#endif
