#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fuelrail/transform/resize_kernels.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "fuelrail/base/simd_blocks-inl.h"
#include "fuelrail/transform/resize_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace fuelrail {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// In plain C++, for the edges; equal to Sums::levels.
uint8_t round_and_clip(uint32_t high, uint32_t low) {
  const auto sum = static_cast<int32_t>((high << 8) + low + (1u << (kWeightBits - 1)));
  const int32_t level = sum >> kWeightBits;
  return static_cast<uint8_t>(level < 0 ? 0 : level > 255 ? 255 : level);
}

uint32_t product(int16_t weight, uint8_t pixel) { return static_cast<uint32_t>(weight * pixel); }

void blend_bytes(const uint8_t* const* rows, const VerticalPair* weights, size_t pairs,
                 int64_t begin, int64_t end, uint8_t* to) {
  for (int64_t x = begin; x < end; ++x) {
    uint32_t high = 0;
    uint32_t low = 0;
    for (size_t p = 0; p < pairs; ++p) {
      const uint8_t a = rows[2 * p][x];
      const uint8_t b = rows[2 * p + 1][x];
      high += product(weights[p].high[0], a) + product(weights[p].high[1], b);
      low += product(weights[p].low[0], a) + product(weights[p].low[1], b);
    }
    to[x] = round_and_clip(high, low);
  }
}

// The sums of one register of outputs.
struct Sums {
  HWY_INLINE Sums() {}
  HWY_INLINE void add(V16 pixels, V16 high_weights, V16 low_weights) {
    high.add(pixels, high_weights);
    low.add(pixels, low_weights);
  }
  // The levels before clipping.
  HWY_INLINE V32 levels() const {
    const V32 half = hn::Set(D32(), 1 << (kWeightBits - 1));
    return hn::ShiftRight<kWeightBits>(
        hn::Add(hn::ShiftLeft<8>(high.sum()), hn::Add(low.sum(), half)));
  }
  PairSums high;
  PairSums low;
};

// Stores red, green and blue of each block; also overwrites up to 4 bytes after them.
HWY_INLINE void store_pixels(V32 levels, uint8_t* to) {
  using Quarter = hn::Rebind<uint8_t, D32>;
  alignas(16) static constexpr uint8_t kCompact2[16] = {0, 1, 2, 4, 5, 6, 3, 7};
  alignas(16) static constexpr uint8_t kCompact4[16] = {0,  1,  2,  4,  5, 6, 8,  9,
                                                        10, 12, 13, 14, 3, 7, 11, 15};
  const auto pixels = hn::DemoteTo(Quarter(), levels);
  if constexpr (kBlocks == 1) {
    hn::StoreU(pixels, Quarter(), to);
  } else {
    const auto order = hn::Load(Quarter(), kBlocks == 2 ? kCompact2 : kCompact4);
    hn::StoreU(hn::TableLookupBytes(pixels, order), Quarter(), to);
  }
}

// kPairs: the number of pairs of taps if known, else 0.
template <int kPairs, size_t kRows>
void resample(const HorizontalTable& table, const uint8_t* const* rows, uint8_t* const* to) {
  constexpr int64_t kLow = kGroup * HorizontalTable::kBlock;
  const int64_t pairs = kPairs > 0 ? kPairs : table.pairs;
  const int16_t* group_weights = table.weights.data();
  const int32_t* offsets = table.offsets.data();
  int64_t at = 0;
  for (int64_t g = 0; g < table.groups; ++g) {
    for (int64_t b = 0; b < kGroup; b += kBlocks, offsets += kBlocks, at += 3 * kBlocks) {
      const int16_t* weights = group_weights + b * HorizontalTable::kBlock;
      Sums sums[kRows];
      int64_t p = 0;
      for (; p + 1 < pairs; p += 2, weights += 2 * HorizontalTable::kPairOfGroup) {
        const V16 high0 = hn::LoadU(D16(), weights);
        const V16 low0 = hn::LoadU(D16(), weights + kLow);
        const V16 high1 = hn::LoadU(D16(), weights + HorizontalTable::kPairOfGroup);
        const V16 low1 = hn::LoadU(D16(), weights + HorizontalTable::kPairOfGroup + kLow);
        for (size_t r = 0; r < kRows; ++r) {
          const V8 blocks = load_blocks(D8(), rows[r] + 6 * p, offsets);
          sums[r].add(pair_of_pixels<3, 0>(blocks), high0, low0);
          sums[r].add(pair_of_pixels<3, 6>(blocks), high1, low1);
        }
      }
      if (p < pairs) {
        const V16 high = hn::LoadU(D16(), weights);
        const V16 low = hn::LoadU(D16(), weights + kLow);
        for (size_t r = 0; r < kRows; ++r) {
          sums[r].add(pair_of_pixels<3, 0>(load_blocks(D8(), rows[r] + 6 * p, offsets)), high, low);
        }
      }
      for (size_t r = 0; r < kRows; ++r) store_pixels(sums[r].levels(), to[r] + at);
    }
    group_weights += pairs * HorizontalTable::kPairOfGroup;
  }
}

template <size_t kRows>
void resample_known(const HorizontalTable& table, const uint8_t* const* rows, uint8_t* const* to) {
  switch (table.pairs) {
    case 1:
      return resample<1, kRows>(table, rows, to);
    case 2:
      return resample<2, kRows>(table, rows, to);
    case 3:
      return resample<3, kRows>(table, rows, to);
    case 4:
      return resample<4, kRows>(table, rows, to);
    default:
      return resample<0, kRows>(table, rows, to);
  }
}

void ResampleRows(const HorizontalTable& table, std::span<const uint8_t* const> rows,
                  std::span<uint8_t* const> to) {
  if (rows.size() == 2) return resample_known<2>(table, rows.data(), to.data());
  resample_known<1>(table, rows.data(), to.data());
}

HWY_INLINE V16 both(const int16_t (&weights)[2]) {
  int32_t pair;
  hwy::CopySameSize(&weights, &pair);
  return hn::BitCast(D16(), hn::Set(D32(), pair));
}

template <size_t kPairs>
HWY_INLINE void blend_vector(const uint8_t* const* rows, const VerticalPair* weights,
                             size_t known_pairs, int64_t x, uint8_t* to) {
  const D8 d8;
  const V8 zero = hn::Zero(d8);
  const size_t pairs = kPairs > 0 ? kPairs : known_pairs;
  Sums sums[4];
  for (size_t p = 0; p < pairs; ++p) {
    const V8 a = hn::LoadU(d8, rows[2 * p] + x);
    const V8 b = hn::LoadU(d8, rows[2 * p + 1] + x);
    const V16 high = both(weights[p].high);
    const V16 low = both(weights[p].low);
    const V8 lower = hn::InterleaveLower(d8, a, b);
    const V8 upper = hn::InterleaveUpper(d8, a, b);
    sums[0].add(hn::BitCast(D16(), hn::InterleaveLower(d8, lower, zero)), high, low);
    sums[1].add(hn::BitCast(D16(), hn::InterleaveUpper(d8, lower, zero)), high, low);
    sums[2].add(hn::BitCast(D16(), hn::InterleaveLower(d8, upper, zero)), high, low);
    sums[3].add(hn::BitCast(D16(), hn::InterleaveUpper(d8, upper, zero)), high, low);
  }
  hn::StoreU(pack(hn::ReorderDemote2To(D16(), sums[0].levels(), sums[1].levels()),
                  hn::ReorderDemote2To(D16(), sums[2].levels(), sums[3].levels())),
             d8, to + x);
}

template <size_t kPairs>
void blend(const uint8_t* const* rows, const VerticalPair* weights, size_t pairs, int64_t bytes,
           uint8_t* to) {
  int64_t x = 0;
  for (; x + kBytes <= bytes; x += kBytes) blend_vector<kPairs>(rows, weights, pairs, x, to);
  if (x == bytes) return;
  if (bytes >= kBytes) return blend_vector<kPairs>(rows, weights, pairs, bytes - kBytes, to);
  blend_bytes(rows, weights, pairs, x, bytes, to);
}

void BlendRows(std::span<const uint8_t* const> rows, std::span<const VerticalPair> weights,
               int64_t bytes, uint8_t* to) {
  switch (weights.size()) {
    case 1:
      return blend<1>(rows.data(), weights.data(), 1, bytes, to);
    case 2:
      return blend<2>(rows.data(), weights.data(), 2, bytes, to);
    case 3:
      return blend<3>(rows.data(), weights.data(), 3, bytes, to);
    default:
      return blend<0>(rows.data(), weights.data(), weights.size(), bytes, to);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fuelrail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace fuelrail {
namespace {

int16_t high_part(int32_t weight) { return static_cast<int16_t>(weight >> 8); }
int16_t low_part(int32_t weight) { return static_cast<int16_t>(weight & 255); }

// Writes one block: the pair of 16-bit weights, 4 times.
void write_block(int16_t first, int16_t second, int16_t* to) {
  const int16_t block[HorizontalTable::kBlock] = {first, second, first, second,
                                                  first, second, first, second};
  std::memcpy(to, block, sizeof(block));
}

int64_t most_taps(const Taps& taps) {
  int64_t most = 0;
  for (const Span& span : taps.spans) most = std::max(most, span.size());
  return most;
}

}  // namespace

void build(const Taps& taps, int64_t first, HorizontalTable& table) {
  const auto outputs = static_cast<int64_t>(taps.spans.size());
  table.groups = (outputs + kGroup - 1) / kGroup;
  table.pairs = (most_taps(taps) + 1) / 2;
  table.offsets.resize(static_cast<size_t>(table.groups * kGroup));
  table.weights.resize(
      static_cast<size_t>(table.groups * table.pairs * HorizontalTable::kPairOfGroup));
  for (int64_t x = 0; x < table.groups * kGroup; ++x) {
    const int64_t known = std::min(x, outputs - 1);  // the last group repeats the last output
    const Span span = taps.spans[static_cast<size_t>(known)];
    const int32_t* weights = taps.weights.data() + known * taps.stride;
    const auto weight = [&](int64_t i) { return i < span.size() ? weights[i] : 0; };
    table.offsets[static_cast<size_t>(x)] = static_cast<int32_t>(3 * (span.begin - first));
    int16_t* to = table.weights.data() + x / kGroup * table.pairs * HorizontalTable::kPairOfGroup +
                  x % kGroup * HorizontalTable::kBlock;
    for (int64_t p = 0; p < table.pairs; ++p, to += HorizontalTable::kPairOfGroup) {
      const int32_t a = weight(2 * p);
      const int32_t b = weight(2 * p + 1);
      write_block(high_part(a), high_part(b), to);
      write_block(low_part(a), low_part(b), to + kGroup * HorizontalTable::kBlock);
    }
  }
  const int64_t last_load = (table.pairs - 1) / 2 * 12;
  table.bytes_read = table.offsets.back() + last_load + 16;
}

VerticalPair vertical_pair(int32_t first, int32_t second) {
  return {{high_part(first), high_part(second)}, {low_part(first), low_part(second)}};
}

HWY_EXPORT(ResampleRows);
HWY_EXPORT(BlendRows);

void resample_rows(const HorizontalTable& table, std::span<const uint8_t* const> rows,
                   std::span<uint8_t* const> to) {
  HWY_DYNAMIC_DISPATCH(ResampleRows)(table, rows, to);
}

void blend_rows(std::span<const uint8_t* const> rows, std::span<const VerticalPair> weights,
                int64_t bytes, uint8_t* to) {
  HWY_DYNAMIC_DISPATCH(BlendRows)(rows, weights, bytes, to);
}

}  // namespace fuelrail
#endif
