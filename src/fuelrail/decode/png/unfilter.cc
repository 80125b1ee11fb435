#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fuelrail/decode/png/unfilter.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

#include <cstring>

#include "fuelrail/decode/png/unfilter.h"

HWY_BEFORE_NAMESPACE();
namespace fuelrail::png {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using D8 = hn::CappedTag<uint8_t, 16>;
using V8 = hn::Vec<D8>;
using D16 = hn::CappedTag<int16_t, 8>;
using V16 = hn::Vec<D16>;
using D8Half = hn::Rebind<uint8_t, D16>;

// The bytes of the last whole pixel of a vector, at the places of all its pixels.
template <int kPixel>
struct LastPixel {
  alignas(16) uint8_t from[16];
  constexpr LastPixel() : from() {
    constexpr int kWhole = 16 / kPixel * kPixel;
    for (int i = 0; i < 16; ++i) {
      from[i] = static_cast<uint8_t>(kWhole - kPixel + i % kPixel);
    }
  }
};

// Sums over the pixels of a vector, by steps of 1, 2, 4 and 8 pixels.
template <int kPixel>
void undo_sub(const FilteredRow& row) {
  static constexpr LastPixel<kPixel> kLast;
  constexpr int kWhole = 16 / kPixel * kPixel;
  const D8 d;
  const V8 last = hn::Load(d, kLast.from);
  V8 before = hn::Zero(d);
  for (int64_t i = 0; i < row.bytes; i += kWhole) {
    V8 sum = hn::LoadU(d, row.filtered + i);
    sum = hn::Add(sum, hn::ShiftLeftBytes<kPixel>(sum));
    if constexpr (2 * kPixel < 16) sum = hn::Add(sum, hn::ShiftLeftBytes<2 * kPixel>(sum));
    if constexpr (4 * kPixel < 16) sum = hn::Add(sum, hn::ShiftLeftBytes<4 * kPixel>(sum));
    if constexpr (8 * kPixel < 16) sum = hn::Add(sum, hn::ShiftLeftBytes<8 * kPixel>(sum));
    sum = hn::Add(sum, before);
    hn::StoreU(sum, d, row.to + i);  // the next pixels overwrite what is behind the whole ones
    before = hn::TableLookupBytes(sum, last);
  }
}

void undo_up(const FilteredRow& row) {
  const hn::CappedTag<uint8_t, 64> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < row.bytes; i += lanes) {
    const auto sum = hn::Add(hn::LoadU(d, row.filtered + i), hn::LoadU(d, row.above + i));
    hn::StoreU(sum, d, row.to + i);
  }
}

// The pixel before is in the first lanes; what the others hold is overwritten by the next pixels.
template <int kPixel>
void undo_average(const FilteredRow& row) {
  const D8 d;
  const V8 one = hn::Set(d, 1);
  V8 before = hn::Zero(d);
  for (int64_t i = 0; i < row.bytes; i += kPixel) {
    const V8 above = hn::LoadU(d, row.above + i);
    // AverageRound rounds up.
    const V8 odd = hn::And(hn::Xor(before, above), one);
    const V8 average = hn::Sub(hn::AverageRound(before, above), odd);
    before = hn::Add(hn::LoadU(d, row.filtered + i), average);
    hn::StoreU(before, d, row.to + i);
  }
}

HWY_INLINE V16 load(const uint8_t* from) { return hn::PromoteTo(D16(), hn::LoadU(D8Half(), from)); }

// Of a (the pixel before), b (above) and c (above and before), the one nearest to a + b - c; of two
// equally near ones, the first. Masks are signs, because masks of comparisons take longer on some
// processors.
HWY_INLINE V16 nearest(V16 a, V16 b, V16 c) {
  const V16 from_a = hn::Sub(b, c);
  const V16 from_b = hn::Sub(a, c);
  const V16 size_a = hn::Abs(from_a);
  const V16 size_b = hn::Abs(from_b);
  const V16 size_c = hn::Abs(hn::Add(from_a, from_b));
  const V16 is_b = hn::ShiftRight<15>(hn::Sub(size_b, size_a));
  const V16 is_c = hn::ShiftRight<15>(hn::Sub(size_c, hn::Min(size_a, size_b)));
  return hn::IfVecThenElse(is_c, c, hn::IfVecThenElse(is_b, b, a));
}

template <int kPixel>
void undo_paeth(const FilteredRow& row) {
  const D16 d;
  const V16 byte = hn::Set(d, 255);
  V16 a = hn::Zero(d);
  V16 c = hn::Zero(d);
  for (int64_t i = 0; i < row.bytes; i += kPixel) {
    const V16 b = load(row.above + i);
    a = hn::And(hn::Add(load(row.filtered + i), nearest(a, b, c)), byte);
    c = b;
    hn::StoreU(hn::DemoteTo(D8Half(), a), D8Half(), row.to + i);
  }
}

using D8Quarter = hn::CappedTag<uint8_t, 4>;

// Four bytes of each row.
HWY_INLINE V16 load_of_both(const uint8_t* first, const uint8_t* second) {
  return hn::PromoteTo(
      D16(), hn::Combine(D8Half(), hn::LoadU(D8Quarter(), second), hn::LoadU(D8Quarter(), first)));
}

// The lower half of each vector is of the first row, and the upper half of the second row, one
// pixel behind: what is above its pixel has just been made.
template <int kPixel>
void undo_paeth_of_both(const FilteredRow& first, const FilteredRow& second) {
  static_assert(kPixel <= 4);
  const D16 d;
  const D8Quarter quarter;
  const V16 byte = hn::Set(d, 255);
  const V16 zero = hn::Zero(d);
  // The first pixel has none before it, and that of the second row is not made yet.
  V16 c = hn::ConcatLowerLower(d, zero, load(first.above));
  V16 a = hn::And(hn::Add(hn::ConcatLowerLower(d, zero, load(first.filtered)), c), byte);
  const auto store = [&](int64_t i) {
    const auto bytes = hn::DemoteTo(D8Half(), a);
    hn::StoreU(hn::LowerHalf(quarter, bytes), quarter, first.to + i);
    return hn::UpperHalf(quarter, bytes);
  };
  store(0);
  for (int64_t i = kPixel; i < first.bytes + kPixel; i += kPixel) {
    const V16 b = hn::ConcatLowerLower(d, a, load(first.above + i));
    const V16 filtered = load_of_both(first.filtered + i, second.filtered + i - kPixel);
    a = hn::And(hn::Add(filtered, nearest(a, b, c)), byte);
    c = b;
    hn::StoreU(store(i), quarter, second.to + i - kPixel);
  }
}

template <int kPixel>
void undo(uint8_t filter, const FilteredRow& row) {
  switch (filter) {
    case kNone:
      std::memcpy(row.to, row.filtered, static_cast<size_t>(row.bytes));
      return;
    case kSub:
      return undo_sub<kPixel>(row);
    case kUp:
      return undo_up(row);
    case kAverage:
      return undo_average<kPixel>(row);
    default:
      return undo_paeth<kPixel>(row);
  }
}

void Unfilter(uint8_t filter, int bytes_per_pixel, const FilteredRow& row) {
  switch (bytes_per_pixel) {
    case 1:
      return undo<1>(filter, row);
    case 2:
      return undo<2>(filter, row);
    case 3:
      return undo<3>(filter, row);
    case 4:
      return undo<4>(filter, row);
    case 6:
      return undo<6>(filter, row);
    default:
      return undo<8>(filter, row);
  }
}

void UnfilterPaethRows(int bytes_per_pixel, const FilteredRow& first, const FilteredRow& second) {
  switch (bytes_per_pixel) {
    case 1:
      return undo_paeth_of_both<1>(first, second);
    case 2:
      return undo_paeth_of_both<2>(first, second);
    case 3:
      return undo_paeth_of_both<3>(first, second);
    case 4:
      return undo_paeth_of_both<4>(first, second);
    default:  // a pixel takes the whole vector
      Unfilter(kPaeth, bytes_per_pixel, first);
      Unfilter(kPaeth, bytes_per_pixel, second);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fuelrail::png
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fuelrail::png {

HWY_EXPORT(Unfilter);
HWY_EXPORT(UnfilterPaethRows);

void unfilter(uint8_t filter, int bytes_per_pixel, const FilteredRow& row) {
  HWY_DYNAMIC_DISPATCH(Unfilter)(filter, bytes_per_pixel, row);
}

void unfilter_paeth_rows(int bytes_per_pixel, const FilteredRow& first, const FilteredRow& second) {
  HWY_DYNAMIC_DISPATCH(UnfilterPaethRows)(bytes_per_pixel, first, second);
}

}  // namespace fuelrail::png
#endif
