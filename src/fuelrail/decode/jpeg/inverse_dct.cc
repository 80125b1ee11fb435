#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fuelrail/decode/jpeg/inverse_dct.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <utility>

#include "fuelrail/base/simd_blocks-inl.h"
#include "fuelrail/decode/jpeg/inverse_dct.h"

#ifndef FUELRAIL_DECODE_JPEG_INVERSE_DCT_ONCE
#define FUELRAIL_DECODE_JPEG_INVERSE_DCT_ONCE
namespace fuelrail::jpeg {
namespace {

// For each place of the zig-zag order (ITU-T T.81, Figure A.6): row * 8 + column.
constexpr std::array<uint8_t, kBlockCoefficients> kZigZag = [] {
  std::array<uint8_t, kBlockCoefficients> order{};
  int row = 0;
  int column = 0;
  for (uint8_t& place : order) {
    place = static_cast<uint8_t>(8 * row + column);
    const bool goes_up = (row + column) % 2 == 0;
    int& ahead = goes_up ? column : row;
    int& back = goes_up ? row : column;
    if (ahead == 7) {
      ++back;
    } else {
      ++ahead;
      back = std::max(back - 1, 0);
    }
  }
  return order;
}();

// How row r of a block is put together from the 8 vectors of its zig-zag order: the bytes that it
// takes from vector v. 0x80: none.
struct RowMoves {
  alignas(16) uint8_t from[8][8][16];
  bool takes[8][8];
};
constexpr RowMoves kRowMoves = [] {
  RowMoves moves{};
  for (auto& row : moves.from) {
    for (auto& vector : row) std::fill(std::begin(vector), std::end(vector), uint8_t{0x80});
  }
  for (int i = 0; i < kBlockCoefficients; ++i) {
    const int row = kZigZag[static_cast<size_t>(i)] / 8;
    const int column = kZigZag[static_cast<size_t>(i)] % 8;
    moves.takes[row][i / 8] = true;
    moves.from[row][i / 8][2 * column] = static_cast<uint8_t>(2 * (i % 8));
    moves.from[row][i / 8][2 * column + 1] = static_cast<uint8_t>(2 * (i % 8) + 1);
  }
  return moves;
}();

// Fractions of sqrt(2) cos(k pi / 16), times 2^13.
constexpr int k0298 = 2446, k0390 = 3196, k0541 = 4433, k0765 = 6270, k0899 = 7373, k1175 = 9633,
              k1501 = 12299, k1847 = 15137, k1961 = 16069, k2053 = 16819, k2562 = 20995,
              k3072 = 25172;
constexpr int kConstantBits = 13;
constexpr int kPassBits = 2;  // that the first pass keeps below the point
// The largest sum of the coefficients of two columns, without signs, with which no sum of 16 bits
// overflows: a coefficient leaves the first pass as at most 2^kPassBits * sqrt(2) * cos(pi / 16)
// times its size. (The squares of a block's coefficients add up to at most 1024^2 before
// quantisation, so 16 of them add up to at most 4096.)
constexpr uint16_t kLargest = 5890;

}  // namespace
}  // namespace fuelrail::jpeg
#endif

HWY_BEFORE_NAMESPACE();
namespace fuelrail::jpeg {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using fuelrail::HWY_NAMESPACE::D16;
using fuelrail::HWY_NAMESPACE::D32;
using fuelrail::HWY_NAMESPACE::D8;
using fuelrail::HWY_NAMESPACE::kBlocks;  // JPEG blocks that are transformed at once
using fuelrail::HWY_NAMESPACE::pair_of;
using fuelrail::HWY_NAMESPACE::products;
using fuelrail::HWY_NAMESPACE::V16;
using fuelrail::HWY_NAMESPACE::V32;
using fuelrail::HWY_NAMESPACE::V8;
using D64 = hn::RepartitionToWide<D32>;
using DU16 = hn::RebindToUnsigned<D16>;
using VU16 = hn::Vec<DU16>;

// The same 8 values of each block, from their addresses.
template <class D>
HWY_INLINE hn::Vec<D> load_each(D d, const int16_t* const* blocks, int64_t at) {
  const hn::Half<D> half;
  if constexpr (hn::MaxLanes(d) == 8) {
    return hn::LoadU(d, blocks[0] + at);
  } else {
    constexpr size_t kHalf = hn::MaxLanes(half) / 8;
    return hn::Combine(d, load_each(half, blocks + kHalf, at), load_each(half, blocks, at));
  }
}

template <size_t kRow, size_t kVector>
HWY_INLINE V8 with_moved(V8 sum, const V16 (&zigzag)[8]) {
  if constexpr (kRowMoves.takes[kRow][kVector]) {
    const V8 moves = hn::LoadDup128(D8(), kRowMoves.from[kRow][kVector]);
    return hn::Or(sum, hn::TableLookupBytesOr0(hn::BitCast(D8(), zigzag[kVector]), moves));
  } else {
    return sum;
  }
}

// Row kRow of the coefficients, dequantised in 16 bits.
template <size_t kRow, size_t... kVectors>
HWY_INLINE V16 coefficient_row(const V16 (&zigzag)[8], const int16_t* quantizers,
                               std::index_sequence<kVectors...>) {
  V8 sum = hn::Zero(D8());
  ((sum = with_moved<kRow, kVectors>(sum, zigzag)), ...);
  return hn::Mul(hn::BitCast(D16(), sum), hn::LoadDup128(D16(), quantizers + 8 * kRow));
}

template <size_t... kRows>
HWY_INLINE void coefficient_rows(const V16 (&zigzag)[8], const int16_t* quantizers, V16 (&rows)[8],
                                 std::index_sequence<kRows...>) {
  ((rows[kRows] = coefficient_row<kRows>(zigzag, quantizers, std::make_index_sequence<8>())), ...);
}

// The lower or upper halves of the blocks, interleaved.
template <bool kUpper>
HWY_INLINE V16 interleaved(V16 a, V16 b) {
  if constexpr (kUpper) {
    return hn::InterleaveUpper(D16(), a, b);
  } else {
    return hn::InterleaveLower(D16(), a, b);
  }
}

// Half of a pass down the columns, in the order of libjpeg-turbo's vector code.
template <int kShift, bool kUpper>
HWY_INLINE void half_pass(const V16 (&x)[8], V32 (&out)[8]) {
  const V16 sum_04 = hn::Add(x[0], x[4]);
  const V16 difference_04 = hn::Sub(x[0], x[4]);
  const V16 sum_73 = hn::Add(x[7], x[3]);
  const V16 sum_51 = hn::Add(x[5], x[1]);
  const V16 zero = hn::Zero(D16());
  const V32 round = hn::Set(D32(), 1 << (kShift - 1));
  const auto scaled = [&](V16 value) HWY_ATTR {  // times 2^13
    const V32 high = hn::BitCast(D32(), interleaved<kUpper>(zero, value));
    return hn::Add(hn::ShiftRight<16 - kConstantBits>(high), round);
  };
  const V32 t0 = scaled(sum_04);
  const V32 t1 = scaled(difference_04);
  const V16 x26 = interleaved<kUpper>(x[2], x[6]);
  const V32 t3 = products(x26, pair_of(k0541 + k0765, k0541));
  const V32 t2 = products(x26, pair_of(k0541, k0541 - k1847));
  const V32 even[4] = {hn::Add(t0, t3), hn::Add(t1, t2), hn::Sub(t1, t2), hn::Sub(t0, t3)};

  const V16 sums = interleaved<kUpper>(sum_73, sum_51);
  const V32 z3 = products(sums, pair_of(k1175 - k1961, k1175));
  const V32 z4 = products(sums, pair_of(k1175, k1175 - k0390));
  const V16 x71 = interleaved<kUpper>(x[7], x[1]);
  const V16 x53 = interleaved<kUpper>(x[5], x[3]);
  const V32 odd[4] = {
      hn::Add(products(x71, pair_of(-k0899, k1501 - k0899)), z4),
      hn::Add(products(x53, pair_of(-k2562, k3072 - k2562)), z3),
      hn::Add(products(x53, pair_of(k2053 - k2562, -k2562)), z4),
      hn::Add(products(x71, pair_of(k0298 - k0899, -k0899)), z3),
  };
  for (int i = 0; i < 4; ++i) {
    out[i] = hn::ShiftRight<kShift>(hn::Add(even[i], odd[i]));
    out[7 - i] = hn::ShiftRight<kShift>(hn::Sub(even[i], odd[i]));
  }
}

template <int kShift>
HWY_INLINE void pass(V16 (&x)[8]) {
  V32 lower[8];
  V32 upper[8];
  half_pass<kShift, false>(x, lower);
  half_pass<kShift, true>(x, upper);
  // Within each block, because its halves were interleaved within it.
  for (int i = 0; i < 8; ++i) x[i] = hn::ReorderDemote2To(D16(), lower[i], upper[i]);
}

HWY_INLINE void transpose(V16 (&x)[8]) {
  V32 a[8];
  for (int i = 0; i < 4; ++i) {
    a[2 * i] = hn::BitCast(D32(), interleaved<false>(x[2 * i], x[2 * i + 1]));
    a[2 * i + 1] = hn::BitCast(D32(), interleaved<true>(x[2 * i], x[2 * i + 1]));
  }
  hn::Vec<D64> b[8];
  for (int i = 0; i < 2; ++i) {
    for (int k = 0; k < 2; ++k) {
      const V32 one = a[4 * i + k];
      const V32 other = a[4 * i + 2 + k];
      b[4 * i + 2 * k] = hn::BitCast(D64(), hn::InterleaveLower(D32(), one, other));
      b[4 * i + 2 * k + 1] = hn::BitCast(D64(), hn::InterleaveUpper(D32(), one, other));
    }
  }
  for (int k = 0; k < 4; ++k) {
    x[2 * k] = hn::BitCast(D16(), hn::InterleaveLower(D64(), b[k], b[4 + k]));
    x[2 * k + 1] = hn::BitCast(D16(), hn::InterleaveUpper(D64(), b[k], b[4 + k]));
  }
}

// For each column of each block, the sum of its values without signs and those of the column 4
// further (for the last four, 4 before), which are the pairs that the second pass adds.
HWY_INLINE VU16 sizes_of(const V16 (&x)[8]) {
  const DU16 unsigned_lanes;
  VU16 sum = hn::Zero(unsigned_lanes);
  for (const V16& row : x) {
    sum = hn::SaturatedAdd(sum, hn::BitCast(unsigned_lanes, hn::Abs(row)));
  }
  return hn::SaturatedAdd(sum, hn::BitCast(unsigned_lanes, hn::Shuffle01(hn::BitCast(D64(), sum))));
}

HWY_INLINE void transform(V16 (&x)[8]) {
  pass<kConstantBits - kPassBits>(x);
  transpose(x);
  pass<kConstantBits + kPassBits + 3>(x);
  transpose(x);
}

HWY_INLINE void store_rows(V16 first, V16 second, uint8_t* to, int64_t row_bytes) {
  const V16 middle = hn::Set(D16(), 128);
  const V8 bytes = fuelrail::HWY_NAMESPACE::to_bytes(hn::SaturatedAdd(first, middle),
                                                     hn::SaturatedAdd(second, middle));
  const hn::Half<D8> half;
  hn::StoreU(hn::LowerHalf(half, bytes), half, to);
  hn::StoreU(hn::UpperHalf(half, bytes), half, to + row_bytes);
}

bool InverseDct(const BlockRow& row, const QuantizerRows& quantizers, uint8_t* to,
                int64_t row_bytes) {
  static_assert(8 * (kBlocks - 1) <= kSlackSamples);
  VU16 most = hn::Zero(DU16());
  const auto block = [&row](int64_t i) {
    return row.blocks_of_mcu == 1
               ? row.first + i * row.mcu_step
               : row.first + (i >> 1) * row.mcu_step + (i & 1) * kBlockCoefficients;
  };
  for (int64_t i = 0; i < row.count; i += kBlocks) {
    const int16_t* blocks[kBlocks];
    for (int64_t k = 0; k < kBlocks; ++k) blocks[k] = block(std::min(i + k, row.count - 1));
    V16 zigzag[8];
    for (int64_t k = 0; k < 8; ++k) zigzag[k] = load_each(D16(), blocks, 8 * k);
    V16 x[8];
    coefficient_rows(zigzag, quantizers.data(), x, std::make_index_sequence<8>());
    most = hn::Max(most, sizes_of(x));
    transform(x);
    for (int r = 0; r < 8; r += 2)
      store_rows(x[r], x[r + 1], to + 8 * i + r * row_bytes, row_bytes);
  }
  return hn::AllTrue(DU16(), hn::Eq(hn::Min(most, hn::Set(DU16(), kLargest)), most));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fuelrail::jpeg
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fuelrail::jpeg {

HWY_EXPORT(InverseDct);

QuantizerRows rows_of(const Quantizers& quantizers) {
  QuantizerRows rows{};
  for (size_t i = 0; i < rows.size(); ++i) rows[kZigZag[i]] = quantizers[i];
  return rows;
}

bool inverse_dct(const BlockRow& row, const QuantizerRows& quantizers, uint8_t* to,
                 int64_t row_bytes) {
  return HWY_DYNAMIC_DISPATCH(InverseDct)(row, quantizers, to, row_bytes);
}

}  // namespace fuelrail::jpeg
#endif
