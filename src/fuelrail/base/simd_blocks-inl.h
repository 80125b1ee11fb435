// Vectors of 1, 2 or 4 blocks of 16 bytes, each loaded from its own address. Included once for
// every instruction set, after hwy/highway.h. Not a part of the interface.
#if defined(FUELRAIL_BASE_SIMD_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUELRAIL_BASE_SIMD_BLOCKS_INL_H_
#undef FUELRAIL_BASE_SIMD_BLOCKS_INL_H_
#else
#define FUELRAIL_BASE_SIMD_BLOCKS_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace fuelrail {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using D8 = hn::CappedTag<uint8_t, 64>;
using D16 = hn::RepartitionToWide<hn::Rebind<int8_t, D8> >;
using D32 = hn::RepartitionToWide<D16>;
using DFloat = hn::RebindToFloat<D32>;
using V8 = hn::Vec<D8>;
using V16 = hn::Vec<D16>;
using V32 = hn::Vec<D32>;
using VFloat = hn::Vec<DFloat>;

constexpr int64_t kBytes = static_cast<int64_t>(hn::MaxLanes(D8()));
constexpr int64_t kBlocks = kBytes / 16;

// Loads one block of 16 bytes from each of 1, 2 or 4 addresses.
template <class D>
HWY_INLINE hn::Vec<D> load_blocks(D d, const uint8_t* row, const int32_t* offsets) {
  const hn::Half<D> half;
  if constexpr (hn::MaxLanes(d) == 16) {
    return hn::LoadU(d, row + offsets[0]);
  } else {
    constexpr size_t kHalf = hn::MaxLanes(half) / 16;
    return hn::Combine(d, load_blocks(half, row, offsets + kHalf), load_blocks(half, row, offsets));
  }
}

// Two adjacent pixels of each block, the first at byte kFirstByte, spread to 16-bit lanes: red,
// next red, green, next green... The lanes of a missing fourth channel are 0.
template <int kChannels, int kFirstByte>
HWY_INLINE V16 pair_of_pixels(V8 blocks) {
  constexpr uint8_t f = kFirstByte, n = kFirstByte + kChannels, z = 0x80;
  constexpr uint8_t a = kChannels == 4 ? f + 3 : z, b = kChannels == 4 ? n + 3 : z;
  alignas(16) static constexpr uint8_t kShuffle[16] = {f,     z, n,     z, f + 1, z, n + 1, z,
                                                       f + 2, z, n + 2, z, a,     z, b,     z};
  return hn::BitCast(D16(), hn::TableLookupBytesOr0(blocks, hn::LoadDup128(D8(), kShuffle)));
}

// Sums of products of adjacent 16-bit lanes.
class PairSums {
 public:
  // Written explicitly, because GCC compiles implicit constructors for the wrong target.
  HWY_INLINE PairSums() : even_(hn::Zero(D32())), odd_(hn::Zero(D32())) {}
  HWY_INLINE void add(V16 pixels, V16 weights) {
    even_ = hn::ReorderWidenMulAccumulate(D32(), pixels, weights, even_, odd_);
  }
  HWY_INLINE V32 sum() const { return hn::RearrangeToOddPlusEven(even_, odd_); }

 private:
  V32 even_;
  V32 odd_;
};

// Two numbers of 16 bits in all pairs of lanes.
HWY_INLINE V16 pair_of(int even, int odd) {
  const auto bits = static_cast<uint16_t>(even) | static_cast<uint32_t>(static_cast<uint16_t>(odd))
                                                      << 16;
  return hn::BitCast(D16(), hn::Set(D32(), static_cast<int32_t>(bits)));
}

// Sums of the products of each pair of lanes.
HWY_INLINE V32 products(V16 a, V16 b) {
  PairSums sums;
  sums.add(a, b);
  return sums.sum();
}

// Converts 16-bit lanes to bytes with clipping, block by block.
HWY_INLINE V8 pack(V16 first, V16 second) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return V8{_mm512_packus_epi16(first.raw, second.raw)};
#elif HWY_TARGET == HWY_AVX2
  return V8{_mm256_packus_epi16(first.raw, second.raw)};
#else
  static_assert(kBlocks == 1);
  const hn::Half<D8> half;
  return hn::Combine(D8(), hn::DemoteTo(half, second), hn::DemoteTo(half, first));
#endif
}

// Restores the order of the values (in units of 32 bits) after `pack` and ReorderDemote2To, which
// work block by block.
HWY_INLINE V8 transposed(V8 packed, [[maybe_unused]] const int32_t* two_blocks,
                         [[maybe_unused]] const int32_t* four_blocks) {
  if constexpr (kBlocks == 1) {
    return packed;
  } else {
    const auto order = hn::SetTableIndices(D32(), kBlocks == 2 ? two_blocks : four_blocks);
    return hn::BitCast(D8(), hn::TableLookupLanes(hn::BitCast(D32(), packed), order));
  }
}

// Converts two vectors of 16-bit levels, or four of 32-bit levels, to bytes with clipping.
HWY_INLINE V8 to_bytes(V16 first, V16 second) {
  alignas(32) static constexpr int32_t kTwo[8] = {0, 1, 4, 5, 2, 3, 6, 7};
  alignas(64) static constexpr int32_t kFour[16] = {0, 1, 4, 5, 8,  9,  12, 13,
                                                    2, 3, 6, 7, 10, 11, 14, 15};
  return transposed(pack(first, second), kTwo, kFour);
}
HWY_INLINE V8 to_bytes(V32 first, V32 second, V32 third, V32 fourth) {
  alignas(32) static constexpr int32_t kTwo[8] = {0, 4, 1, 5, 2, 6, 3, 7};
  alignas(64) static constexpr int32_t kFour[16] = {0, 4, 8,  12, 1, 5, 9,  13,
                                                    2, 6, 10, 14, 3, 7, 11, 15};
  return transposed(
      pack(hn::ReorderDemote2To(D16(), first, second), hn::ReorderDemote2To(D16(), third, fourth)),
      kTwo, kFour);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fuelrail
HWY_AFTER_NAMESPACE();

#endif
