#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fuelrail/transform/cv_resize_kernels.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "fuelrail/transform/cv_resize_kernels.h"
#include "fuelrail/transform/cv_taps.h"
#include "fuelrail/transform/portable_math.h"
#include "fuelrail/transform/simd_blocks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fuelrail {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr float kCubicScale = 1.0f / (kCvWeightOne * kCvWeightOne);
constexpr int32_t kSumHalf = 1 << (2 * kCvWeightBits - 1);

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

uint8_t clip(int32_t level) {
  return static_cast<uint8_t>(level < 0 ? 0 : level > 255 ? 255 : level);
}

// `make` takes the sum of pixel x and channel c.
template <typename Make>
void sum_row(const CvColumns& columns, const uint8_t* row, Make make) {
  const int64_t channels = columns.channels;
  const int64_t step = columns.step();
  for (int64_t x = 0; x < columns.width; ++x) {
    const uint8_t* const from = row + columns.offsets[static_cast<size_t>(x)];
    const int16_t* const weights = columns.weights.data() + columns.first_weight(x);
    for (int64_t c = 0; c < channels; ++c) {
      int32_t sum = 0;
      for (int64_t k = 0; k < columns.taps; ++k) {
        sum += weights[k / 2 * step + k % 2] * from[k * channels + c];
      }
      make(x * cv_lanes(channels) + c, sum);
    }
  }
}

void LinearRow(const CvColumns& columns, const uint8_t* row, int16_t* to) {
  sum_row(columns, row, [to](int64_t i, int32_t sum) { to[i] = static_cast<int16_t>(sum >> 4); });
}
void CubicRow(const CvColumns& columns, const uint8_t* row, float* to) {
  sum_row(columns, row, [to](int64_t i, int32_t sum) { to[i] = static_cast<float>(sum); });
}
void Lanczos4Row(const CvColumns& columns, const uint8_t* row, int32_t* to) {
  sum_row(columns, row, [to](int64_t i, int32_t sum) { to[i] = sum; });
}

void BlendLinear(std::span<const int16_t* const, 2> rows, const int16_t* weights, int64_t values,
                 uint8_t* to) {
  for (int64_t i = 0; i < values; ++i) {
    const int32_t upper = (weights[0] * rows[0][i]) >> 16;
    const int32_t lower = (weights[1] * rows[1][i]) >> 16;
    to[i] = clip((upper + lower + 2) >> 2);
  }
}

void BlendCubic(std::span<const float* const, 4> rows, const int16_t* weights, int64_t values,
                uint8_t* to) {
  float w[4];
  for (int k = 0; k < 4; ++k) w[k] = static_cast<float>(weights[k]) * kCubicScale;
  for (int64_t i = 0; i < values; ++i) {
    const float sum =
        rows[0][i] * w[0] + (rows[1][i] * w[1] + (rows[2][i] * w[2] + rows[3][i] * w[3]));
    to[i] = clip(static_cast<int32_t>(round_half_even(sum)));
  }
}

void BlendLanczos4(std::span<const int32_t* const, 8> rows, const int16_t* weights, int64_t values,
                   uint8_t* to) {
  for (int64_t i = 0; i < values; ++i) {
    auto sum = static_cast<uint32_t>(kSumHalf);
    for (size_t k = 0; k < 8; ++k) sum += static_cast<uint32_t>(rows[k][i] * weights[k]);
    to[i] = clip(static_cast<int32_t>(sum) >> (2 * kCvWeightBits));
  }
}

void DropFourth(const uint8_t* from, int64_t pixels, uint8_t* to) {
  for (int64_t x = 0; x < pixels; ++x) std::memcpy(to + 3 * x, from + 4 * x, 3);
}

#else

// --- Rows ---

// Two neighbours of each 32-bit lane, taken apart.
template <int kFirstByte>
HWY_INLINE V16 pair_of_greys(V8 fours) {
  constexpr uint8_t f = kFirstByte;
  alignas(16) static constexpr uint8_t kShuffle[16] = {f,      0x80, f + 1,  0x80, f + 4, 0x80,
                                                       f + 5,  0x80, f + 8,  0x80, f + 9, 0x80,
                                                       f + 12, 0x80, f + 13, 0x80};
  return hn::BitCast(D16(), hn::TableLookupBytesOr0(fours, hn::LoadDup128(D8(), kShuffle)));
}

// One vector of sums: of kBlocks pixels of 3 or 4 channels.
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

// Of as many grey pixels as there are lanes.
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

// `store(at, sums)` takes a vector of sums, the values from `at` on.
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

// What becomes of a vector of sums. Not lambdas: GCC compiles those for the wrong target.
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

// Bytes of four vectors of levels. `level(i)` gives those from i on.
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

// Of a vector of RGBX, RGB in the first three quarters.
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

#endif

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

}  // namespace fuelrail
#endif
