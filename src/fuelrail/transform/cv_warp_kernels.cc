// The kernel knows vectors of 1, 2 or 4 blocks of 16 bytes.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fuelrail/transform/cv_warp_kernels.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>

#include "fuelrail/transform/cv_warp_kernels.h"
#include "fuelrail/transform/simd_blocks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fuelrail {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

void BlendPlaces(ConstImageView from, const CvWarpPlaces& places, const int16_t* weights,
                 uint8_t* to) {
  for (int64_t i = 0; i < places.count; ++i, to += 4) {
    const uint8_t* const upper = from.data + places.offsets[i];
    const uint8_t* const lower = upper + from.row_stride_bytes;
    const int16_t* const w = weights + 4 * places.weights[i];
    for (int64_t c = 0; c < from.channels; ++c) {
      const int64_t n = c + from.channels;
      const int sum = w[0] * upper[c] + w[1] * upper[n] + w[2] * lower[c] + w[3] * lower[n];
      to[c] = static_cast<uint8_t>(std::clamp((sum + (1 << 14)) >> 15, 0, 255));
    }
  }
}

#else

// The pair of 16-bit weights at kFirstByte of each block, four times.
template <int kFirstByte>
HWY_INLINE V16 repeated_pair(V8 blocks) {
  constexpr uint8_t a = kFirstByte, b = a + 1, c = a + 2, d = a + 3;
  alignas(16) static constexpr uint8_t kShuffle[16] = {a, b, c, d, a, b, c, d,
                                                       a, b, c, d, a, b, c, d};
  return hn::BitCast(D16(), hn::TableLookupBytes(blocks, hn::LoadDup128(D8(), kShuffle)));
}

template <int kChannels>
void blend_places(ConstImageView from, const CvWarpPlaces& places, const int16_t* weights,
                  uint8_t* to) {
  const hn::Rebind<uint8_t, D32> quarter;
  const V32 half = hn::Set(D32(), 1 << 14);
  const uint8_t* const table = reinterpret_cast<const uint8_t*>(weights);
  for (int64_t i = 0; i < places.count; i += kBlocks, to += 4 * kBlocks) {
    int32_t sets[4];
    for (int64_t b = 0; b < kBlocks; ++b) sets[b] = 8 * places.weights[i + b];
    const V8 set = load_blocks(D8(), table, sets);
    const int32_t* const offsets = places.offsets + i;
    PairSums sums;
    const V8 upper = load_blocks(D8(), from.data, offsets);
    const V8 lower = load_blocks(D8(), from.data + from.row_stride_bytes, offsets);
    sums.add(pair_of_pixels<kChannels, 0>(upper), repeated_pair<0>(set));
    sums.add(pair_of_pixels<kChannels, 0>(lower), repeated_pair<4>(set));
    const V32 levels = hn::ShiftRight<15>(hn::Add(sums.sum(), half));
    hn::StoreU(hn::DemoteTo(quarter, levels), quarter, to);
  }
}

void BlendPlaces(ConstImageView from, const CvWarpPlaces& places, const int16_t* weights,
                 uint8_t* to) {
  if (from.channels == 3) return blend_places<3>(from, places, weights, to);
  blend_places<4>(from, places, weights, to);
}

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fuelrail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace fuelrail {

HWY_EXPORT(BlendPlaces);

void cv_blend_places(ConstImageView from, const CvWarpPlaces& places, const int16_t* weights,
                     uint8_t* to) {
  HWY_DYNAMIC_DISPATCH(BlendPlaces)(from, places, weights, to);
}

}  // namespace fuelrail
#endif
