#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fuelrail/transform/cv_area_kernels.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>

#include "fuelrail/transform/cv_area_kernels.h"
#include "fuelrail/transform/portable_math.h"
#include "fuelrail/transform/simd_blocks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fuelrail {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// One pixel, all channels.
void sum_area(const CvAreaColumns& columns, const uint8_t* row, int64_t x, float* to) {
  const int64_t channels = columns.channels;
  const uint8_t* const from = row + columns.offsets[static_cast<size_t>(x)];
  const float* const weights = columns.weights.data() + columns.first_weight(x);
  for (int64_t c = 0; c < channels; ++c) {
    float sum = 0;
    for (int64_t k = 0; k < columns.taps; ++k) {
      sum += static_cast<float>(from[k * channels + c]) * weights[k * columns.step()];
    }
    to[x * cv_lanes(channels) + c] = sum;
  }
}

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

void AreaRow(const CvAreaColumns& columns, const uint8_t* row, float* to) {
  for (int64_t x = 0; x < columns.width; ++x) sum_area(columns, row, x, to);
}
void AreaBegin(const float* row, float weight, int64_t values, float* sum) {
  for (int64_t i = 0; i < values; ++i) sum[i] = weight * row[i];
}
void AreaAdd(const float* row, float weight, int64_t values, float* sum) {
  for (int64_t i = 0; i < values; ++i) sum[i] += weight * row[i];
}
void AreaRound(const float* sum, int64_t values, uint8_t* to) {
  for (int64_t i = 0; i < values; ++i) {
    to[i] = static_cast<uint8_t>(std::clamp(round_half_even(sum[i]), 0.0f, 255.0f));
  }
}
void HalveRows(const uint8_t* upper, const uint8_t* lower, int64_t pixels, int64_t channels,
               uint8_t* to) {
  for (int64_t x = 0; x < pixels; ++x, upper += 2 * channels, lower += 2 * channels) {
    for (int64_t c = 0; c < channels; ++c) {
      const int sum = upper[c] + upper[c + channels] + lower[c] + lower[c + channels];
      to[x * cv_lanes(channels) + c] = static_cast<uint8_t>((sum + 2) >> 2);
    }
  }
}
void AddRow(const uint8_t* row, int64_t bytes, int32_t* sums) {
  for (int64_t i = 0; i < bytes; ++i) sums[i] += row[i];
}

#else

// The pixel of each block that begins at kFirstByte, as floats.
template <int kChannels, int kFirstByte>
HWY_INLINE VFloat pixel_of(V8 blocks) {
  constexpr uint8_t f = kFirstByte, fourth = kChannels == 4 ? f + 3 : 0x80, z = 0x80;
  alignas(16) static constexpr uint8_t kShuffle[16] = {f,     z, z, z, f + 1,  z, z, z,
                                                       f + 2, z, z, z, fourth, z, z, z};
  return hn::ConvertTo(DFloat(), hn::BitCast(D32(), hn::TableLookupBytesOr0(
                                                        blocks, hn::LoadDup128(D8(), kShuffle))));
}

// Adds `kTaps` taps of kBlocks pixels, from one load: 4 or fewer.
template <int kChannels, int kTaps>
HWY_INLINE VFloat add_taps(V8 blocks, const float* weights, VFloat sum) {
  if constexpr (kTaps == 0) {
    return sum;
  } else {
    sum = add_taps<kChannels, kTaps - 1>(blocks, weights, sum);
    constexpr int64_t kTap = kCvGroup * kCvLanes;
    const VFloat pixel = pixel_of<kChannels, (kTaps - 1) * kChannels>(blocks);
    return hn::Add(sum, hn::Mul(pixel, hn::LoadU(DFloat(), weights + (kTaps - 1) * kTap)));
  }
}

template <int kChannels>
void area_colour_row(const CvAreaColumns& columns, const uint8_t* row, float* to) {
  constexpr int64_t kTap = kCvGroup * kCvLanes;
  const int32_t* offsets = columns.offsets.data();
  const float* group = columns.weights.data();
  const int64_t groups = cv_groups(columns.width);
  for (int64_t g = 0; g < groups; ++g, group += columns.taps * kTap) {
    for (int64_t x = 0; x < kCvGroup; x += kBlocks) {
      const float* weights = group + x * kCvLanes;
      const uint8_t* from = row;
      VFloat sum = hn::Zero(DFloat());
      int64_t left = columns.taps;
      for (; left >= 4; left -= 4, from += 4 * kChannels, weights += 4 * kTap) {
        sum = add_taps<kChannels, 4>(load_blocks(D8(), from, offsets), weights, sum);
      }
      if (left > 0) {
        const V8 blocks = load_blocks(D8(), from, offsets);
        sum = left == 1   ? add_taps<kChannels, 1>(blocks, weights, sum)
              : left == 2 ? add_taps<kChannels, 2>(blocks, weights, sum)
                          : add_taps<kChannels, 3>(blocks, weights, sum);
      }
      hn::StoreU(sum, DFloat(), to);
      to += kBlocks * kCvLanes;
      offsets += kBlocks;
    }
  }
}

void AreaRow(const CvAreaColumns& columns, const uint8_t* row, float* to) {
  if (columns.channels == 3) return area_colour_row<3>(columns, row, to);
  if (columns.channels == 4) return area_colour_row<4>(columns, row, to);
  for (int64_t x = 0; x < columns.width; ++x) sum_area(columns, row, x, to);
}

constexpr int64_t kFloats = kBytes / 4;

void AreaBegin(const float* row, float weight, int64_t values, float* sum) {
  const VFloat w = hn::Set(DFloat(), weight);
  for (int64_t i = 0; i < values; i += kFloats) {
    hn::StoreU(hn::Mul(w, hn::LoadU(DFloat(), row + i)), DFloat(), sum + i);
  }
}
void AreaAdd(const float* row, float weight, int64_t values, float* sum) {
  const VFloat w = hn::Set(DFloat(), weight);
  for (int64_t i = 0; i < values; i += kFloats) {
    const VFloat more = hn::Mul(w, hn::LoadU(DFloat(), row + i));
    hn::StoreU(hn::Add(hn::LoadU(DFloat(), sum + i), more), DFloat(), sum + i);
  }
}

HWY_INLINE V32 levels_at(const float* sum) { return hn::NearestInt(hn::LoadU(DFloat(), sum)); }
void AreaRound(const float* sum, int64_t values, uint8_t* to) {
  for (int64_t i = 0; i < values; i += kBytes, sum += kBytes) {
    hn::StoreU(to_bytes(levels_at(sum), levels_at(sum + kFloats), levels_at(sum + 2 * kFloats),
                        levels_at(sum + 3 * kFloats)),
               D8(), to + i);
  }
}

// The sums of each pair of neighbours, two pairs of pixels (of grey eight) a block.
template <int kChannels>
HWY_INLINE V16 pair_sums(const uint8_t* row, const int32_t* offsets) {
  constexpr uint8_t c = kChannels, s = 2 * c, z = 0x80;
  constexpr uint8_t a = c == 4 ? 3 : z, b = c == 4 ? 7 : z, d = c == 4 ? 11 : z,
                    e = c == 4 ? 15 : z;
  alignas(16) static constexpr uint8_t kShuffle[16] = {
      0, c, 1, c + 1, 2, c + 2, a, b, s, s + c, s + 1, s + c + 1, s + 2, s + c + 2, d, e};
  V8 blocks = load_blocks(D8(), row, offsets);
  if constexpr (kChannels != 1) {
    blocks = hn::TableLookupBytesOr0(blocks, hn::LoadDup128(D8(), kShuffle));
  }
  const hn::RepartitionToWide<D8> wide;
  const auto pairs = hn::BitCast(wide, blocks);
  const auto lower = hn::And(pairs, hn::Set(wide, 0xff));
  return hn::BitCast(D16(), hn::Add(lower, hn::ShiftRight<8>(pairs)));
}

template <int kChannels>
void halve_rows(const uint8_t* upper, const uint8_t* lower, int64_t pixels, uint8_t* to) {
  constexpr int64_t kPixelsOfBlock = kChannels == 1 ? 8 : 2;
  constexpr int32_t kStep = static_cast<int32_t>(kPixelsOfBlock * 2 * kChannels);
  constexpr int32_t kOffsets[4] = {0, kStep, 2 * kStep, 3 * kStep};
  const V16 two = hn::Set(D16(), 2);
  const hn::Half<D8> half;
  for (int64_t x = 0; x < pixels; x += kBlocks * kPixelsOfBlock) {
    const V16 sums =
        hn::Add(pair_sums<kChannels>(upper, kOffsets), pair_sums<kChannels>(lower, kOffsets));
    hn::StoreU(hn::DemoteTo(half, hn::ShiftRight<2>(hn::Add(sums, two))), half,
               to + x * cv_lanes(kChannels));
    upper += kBlocks * kStep;
    lower += kBlocks * kStep;
  }
}

void HalveRows(const uint8_t* upper, const uint8_t* lower, int64_t pixels, int64_t channels,
               uint8_t* to) {
  if (channels == 1) return halve_rows<1>(upper, lower, pixels, to);
  if (channels == 3) return halve_rows<3>(upper, lower, pixels, to);
  halve_rows<4>(upper, lower, pixels, to);
}

void AddRow(const uint8_t* row, int64_t bytes, int32_t* sums) {
  constexpr hn::Rebind<uint8_t, D32> quarter;
  constexpr int64_t kLanes = kBytes / 4;
  int64_t i = 0;
  for (; i + kLanes <= bytes; i += kLanes) {
    const V32 more = hn::PromoteTo(D32(), hn::LoadU(quarter, row + i));
    hn::StoreU(hn::Add(hn::LoadU(D32(), sums + i), more), D32(), sums + i);
  }
  for (; i < bytes; ++i) sums[i] += row[i];
}

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fuelrail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace fuelrail {

HWY_EXPORT(AreaRow);
HWY_EXPORT(AreaBegin);
HWY_EXPORT(AreaAdd);
HWY_EXPORT(AreaRound);
HWY_EXPORT(HalveRows);
HWY_EXPORT(AddRow);

void cv_area_row(const CvAreaColumns& columns, const uint8_t* row, float* to) {
  HWY_DYNAMIC_DISPATCH(AreaRow)(columns, row, to);
}
void cv_area_begin(const float* row, float weight, int64_t values, float* sum) {
  HWY_DYNAMIC_DISPATCH(AreaBegin)(row, weight, values, sum);
}
void cv_area_add(const float* row, float weight, int64_t values, float* sum) {
  HWY_DYNAMIC_DISPATCH(AreaAdd)(row, weight, values, sum);
}
void cv_area_round(const float* sum, int64_t values, uint8_t* to) {
  HWY_DYNAMIC_DISPATCH(AreaRound)(sum, values, to);
}
void cv_halve_rows(const uint8_t* upper, const uint8_t* lower, int64_t pixels, int64_t channels,
                   uint8_t* to) {
  HWY_DYNAMIC_DISPATCH(HalveRows)(upper, lower, pixels, channels, to);
}
void cv_add_row(const uint8_t* row, int64_t bytes, int32_t* sums) {
  HWY_DYNAMIC_DISPATCH(AddRow)(row, bytes, sums);
}

}  // namespace fuelrail
#endif
