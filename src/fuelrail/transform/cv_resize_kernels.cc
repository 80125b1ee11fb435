#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fuelrail/transform/cv_resize_kernels.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "fuelrail/base/simd_blocks-inl.h"
#include "fuelrail/transform/cv_resize_kernels.h"
#include "fuelrail/transform/cv_taps.h"

HWY_BEFORE_NAMESPACE();
namespace fuelrail {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr float kCubicScale = 1.0f / (kCvWeightOne * kCvWeightOne);
constexpr int32_t kSumHalf = 1 << (2 * kCvWeightBits - 1);

// --- Rows ---

// Two adjacent greys of each 32-bit lane, spread to 16-bit lanes.
template <int kFirstByte>
HWY_INLINE V16 pair_of_greys(V8 fours) {
  constexpr uint8_t f = kFirstByte;
  alignas(16) static constexpr uint8_t kShuffle[16] = {f,      0x80, f + 1,  0x80, f + 4, 0x80,
                                                       f + 5,  0x80, f + 8,  0x80, f + 9, 0x80,
                                                       f + 12, 0x80, f + 13, 0x80};
  return hn::BitCast(D16(), hn::TableLookupBytesOr0(fours, hn::LoadDup128(D8(), kShuffle)));
}

// One vector of sums, for kBlocks pixels of 3 or 4 channels.
template <int kChannels, int kTaps>
struct SumPixels {
  static constexpr int64_t kPixels = kBlocks;
  static constexpr int64_t kBlock = 8;  // CvColumns::block()
  static constexpr int64_t kPair = kCvGroup * kBlock;
  static HWY_INLINE void add(const uint8_t* row, const int32_t* offsets, const int16_t* weights,
                             PairSums& sums) {
    const V8 blocks = load_blocks(D8(), row, offsets);
    sums.add(pair_of_pixels<kChannels, 0>(blocks), hn::LoadU(D16(), weights));
    if constexpr (kTaps > 2) {
      sums.add(pair_of_pixels<kChannels, 2 * kChannels>(blocks), hn::LoadU(D16(), weights + kPair));
    }
    if constexpr (kTaps > 4) {
      SumPixels<kChannels, kTaps - 4>::add(row + 4 * kChannels, offsets, weights + 2 * kPair, sums);
    }
  }
};

// One vector of sums for grey: one pixel per lane.
template <int kTaps>
struct SumPixels<1, kTaps> {
  static constexpr int64_t kPixels = 4 * kBlocks;
  static constexpr int64_t kBlock = 2;
  static constexpr int64_t kPair = kCvGroup * kBlock;
  static HWY_INLINE void add(const uint8_t* row, const int32_t* offsets, const int16_t* weights,
                             PairSums& sums) {
    const V8 fours = hn::BitCast(
        D8(),
        hn::GatherOffset(D32(), reinterpret_cast<const int32_t*>(row), hn::LoadU(D32(), offsets)));
    sums.add(pair_of_greys<0>(fours), hn::LoadU(D16(), weights));
    if constexpr (kTaps > 2) {
      sums.add(pair_of_greys<2>(fours), hn::LoadU(D16(), weights + kPair));
    }
    if constexpr (kTaps > 4) {
      SumPixels<1, kTaps - 4>::add(row + 4, offsets, weights + 2 * kPair, sums);
    }
  }
};

// Calls `store(at, sums)` with each vector of sums, which are the values from `at` on.
template <typename Sum, int kTaps, typename Store>
HWY_INLINE void make_row(const CvColumns& columns, const uint8_t* row, Store store) {
  const int16_t* weights = columns.weights.data();
  const int32_t* offsets = columns.offsets.data();
  const int64_t groups = cv_groups(columns.width);
  int64_t at = 0;
  for (int64_t g = 0; g < groups; ++g, weights += kTaps / 2 * Sum::kPair) {
    for (int64_t x = 0; x < kCvGroup; x += Sum::kPixels, at += 4 * kBlocks) {
      PairSums sums;
      Sum::add(row, offsets, weights + x * Sum::kBlock, sums);
      store(at, sums.sum());
      offsets += Sum::kPixels;
    }
  }
}

template <int kTaps, typename Store>
HWY_INLINE void make_row_of(const CvColumns& columns, const uint8_t* row, Store store) {
  if (columns.channels == 1) return make_row<SumPixels<1, kTaps>, kTaps>(columns, row, store);
  if (columns.channels == 3) return make_row<SumPixels<3, kTaps>, kTaps>(columns, row, store);
  make_row<SumPixels<4, kTaps>, kTaps>(columns, row, store);
}

// Store a vector of sums. They are not lambdas, which GCC compiles for the wrong target.
struct StoreSixteenths {
  HWY_INLINE void operator()(int64_t at, V32 sums) const {
    const hn::Rebind<int16_t, D32> half;
    hn::StoreU(hn::DemoteTo(half, hn::ShiftRight<4>(sums)), half, to + at);
  }
  int16_t* to;
};
struct StoreFloats {
  HWY_INLINE void operator()(int64_t at, V32 sums) const {
    hn::StoreU(hn::ConvertTo(DFloat(), sums), DFloat(), to + at);
  }
  float* to;
};
struct StoreSums {
  HWY_INLINE void operator()(int64_t at, V32 sums) const { hn::StoreU(sums, D32(), to + at); }
  int32_t* to;
};

void LinearRow(const CvColumns& columns, const uint8_t* row, int16_t* to) {
  make_row_of<2>(columns, row, StoreSixteenths{to});
}
void CubicRow(const CvColumns& columns, const uint8_t* row, float* to) {
  make_row_of<4>(columns, row, StoreFloats{to});
}
void Lanczos4Row(const CvColumns& columns, const uint8_t* row, int32_t* to) {
  make_row_of<8>(columns, row, StoreSums{to});
}

// --- Between rows ---

void BlendLinear(std::span<const int16_t* const, 2> rows, const int16_t* weights, int64_t values,
                 uint8_t* to) {
  const V16 upper = hn::Set(D16(), weights[0]);
  const V16 lower = hn::Set(D16(), weights[1]);
  const V16 half = hn::Set(D16(), 2);
  const auto level = [&](int64_t i) HWY_ATTR {
    const V16 a = hn::MulHigh(hn::LoadU(D16(), rows[0] + i), upper);
    const V16 b = hn::MulHigh(hn::LoadU(D16(), rows[1] + i), lower);
    return hn::ShiftRight<2>(hn::Add(hn::Add(a, b), half));
  };
  for (int64_t i = 0; i < values; i += kBytes) {
    const V16 first = level(i);
    hn::StoreU(to_bytes(first, level(i + kBytes / 2)), D8(), to + i);
  }
}

// Stores levels as bytes, four vectors at a time. `level(i)` returns the vector of levels from i
// on.
template <typename Level>
HWY_INLINE void store_levels(int64_t values, uint8_t* to, const Level& level) {
  constexpr int64_t kQuarter = kBytes / 4;
  for (int64_t i = 0; i < values; i += kBytes) {
    hn::StoreU(
        to_bytes(level(i), level(i + kQuarter), level(i + 2 * kQuarter), level(i + 3 * kQuarter)),
        D8(), to + i);
  }
}

struct CubicLevel {
  HWY_INLINE VFloat part(size_t k, int64_t i) const {
    return hn::Mul(hn::LoadU(DFloat(), rows[k] + i), hn::Set(DFloat(), weights[k]));
  }
  HWY_INLINE V32 operator()(int64_t i) const {
    return hn::NearestInt(
        hn::Add(part(0, i), hn::Add(part(1, i), hn::Add(part(2, i), part(3, i)))));
  }
  const float* rows[4];
  float weights[4];
};

void BlendCubic(std::span<const float* const, 4> rows, const int16_t* weights, int64_t values,
                uint8_t* to) {
  CubicLevel level;
  for (size_t k = 0; k < 4; ++k) {
    level.rows[k] = rows[k];
    level.weights[k] = static_cast<float>(weights[k]) * kCubicScale;
  }
  store_levels(values, to, level);
}

struct Lanczos4Level {
  HWY_INLINE V32 operator()(int64_t i) const {
    V32 sum = hn::Set(D32(), kSumHalf);
    for (size_t k = 0; k < 8; ++k) {
      sum = hn::Add(sum, hn::Mul(hn::LoadU(D32(), rows[k] + i), hn::Set(D32(), weights[k])));
    }
    return hn::ShiftRight<2 * kCvWeightBits>(sum);
  }
  const int32_t* rows[8];
  int32_t weights[8];
};

void BlendLanczos4(std::span<const int32_t* const, 8> rows, const int16_t* weights, int64_t values,
                   uint8_t* to) {
  Lanczos4Level level;
  std::copy_n(rows.begin(), 8, level.rows);
  std::copy_n(weights, 8, level.weights);
  store_levels(values, to, level);
}

// Moves the RGB of a vector of RGBX into its first three quarters.
HWY_INLINE V8 drop_fourth(V8 pixels) {
  alignas(16) static constexpr uint8_t kShuffle[16] = {0,  1,  2,  4,  5,    6,    8,    9,
                                                       10, 12, 13, 14, 0x80, 0x80, 0x80, 0x80};
  alignas(64) static constexpr int32_t kCompact[16] = {0,  1,  2,  4,  5, 6, 8,  9,
                                                       10, 12, 13, 14, 3, 7, 11, 15};
  alignas(32) static constexpr int32_t kCompactTwo[8] = {0, 1, 2, 4, 5, 6, 3, 7};
  const V8 apart = hn::TableLookupBytesOr0(pixels, hn::LoadDup128(D8(), kShuffle));
  return transposed(apart, kCompactTwo, kCompact);
}

void DropFourth(const uint8_t* from, int64_t pixels, uint8_t* to) {
  constexpr int64_t kMade = kBytes / 4 * 3;
  const int64_t bytes = 3 * pixels;
  int64_t at = 0;
  for (; at + kBytes <= bytes; at += kMade, from += kBytes) {
    hn::StoreU(drop_fourth(hn::LoadU(D8(), from)), D8(), to + at);
  }
  uint8_t rest[kBytes];
  for (; at < bytes; at += kMade, from += kBytes) {
    hn::StoreU(drop_fourth(hn::LoadU(D8(), from)), D8(), rest);
    std::memcpy(to + at, rest, static_cast<size_t>(std::min(kMade, bytes - at)));
  }
}

// --- Means of areas ---

// Computes one pixel with all channels.
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

// In each block, the pixel that begins at kFirstByte, as floats.
template <int kChannels, int kFirstByte>
HWY_INLINE VFloat pixel_of(V8 blocks) {
  constexpr uint8_t f = kFirstByte, fourth = kChannels == 4 ? f + 3 : 0x80, z = 0x80;
  alignas(16) static constexpr uint8_t kShuffle[16] = {f,     z, z, z, f + 1,  z, z, z,
                                                       f + 2, z, z, z, fourth, z, z, z};
  return hn::ConvertTo(DFloat(), hn::BitCast(D32(), hn::TableLookupBytesOr0(
                                                        blocks, hn::LoadDup128(D8(), kShuffle))));
}

// Adds `kTaps` taps (at most 4) of kBlocks pixels, from one load.
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

// The sums of each pair of adjacent pixels: two pairs per block, or eight pairs of grey pixels.
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

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fuelrail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace fuelrail {

HWY_EXPORT(LinearRow);
HWY_EXPORT(CubicRow);
HWY_EXPORT(Lanczos4Row);
HWY_EXPORT(BlendLinear);
HWY_EXPORT(BlendCubic);
HWY_EXPORT(BlendLanczos4);
HWY_EXPORT(DropFourth);
HWY_EXPORT(AreaRow);
HWY_EXPORT(AreaBegin);
HWY_EXPORT(AreaAdd);
HWY_EXPORT(AreaRound);
HWY_EXPORT(HalveRows);
HWY_EXPORT(AddRow);

void cv_linear_row(const CvColumns& columns, const uint8_t* row, int16_t* to) {
  HWY_DYNAMIC_DISPATCH(LinearRow)(columns, row, to);
}
void cv_cubic_row(const CvColumns& columns, const uint8_t* row, float* to) {
  HWY_DYNAMIC_DISPATCH(CubicRow)(columns, row, to);
}
void cv_lanczos4_row(const CvColumns& columns, const uint8_t* row, int32_t* to) {
  HWY_DYNAMIC_DISPATCH(Lanczos4Row)(columns, row, to);
}
void cv_blend_linear(std::span<const int16_t* const, 2> rows, const int16_t* weights,
                     int64_t values, uint8_t* to) {
  HWY_DYNAMIC_DISPATCH(BlendLinear)(rows, weights, values, to);
}
void cv_blend_cubic(std::span<const float* const, 4> rows, const int16_t* weights, int64_t values,
                    uint8_t* to) {
  HWY_DYNAMIC_DISPATCH(BlendCubic)(rows, weights, values, to);
}
void cv_blend_lanczos4(std::span<const int32_t* const, 8> rows, const int16_t* weights,
                       int64_t values, uint8_t* to) {
  HWY_DYNAMIC_DISPATCH(BlendLanczos4)(rows, weights, values, to);
}
void cv_drop_fourth(const uint8_t* from, int64_t pixels, uint8_t* to) {
  HWY_DYNAMIC_DISPATCH(DropFourth)(from, pixels, to);
}
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
