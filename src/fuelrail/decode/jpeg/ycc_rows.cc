#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fuelrail/decode/jpeg/ycc_rows.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

#include <cstring>

#include "fuelrail/base/simd_blocks-inl.h"
#include "fuelrail/decode/jpeg/ycc_rows.h"

HWY_BEFORE_NAMESPACE();
namespace fuelrail::jpeg {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using fuelrail::HWY_NAMESPACE::D16;
using fuelrail::HWY_NAMESPACE::D32;
using fuelrail::HWY_NAMESPACE::pair_of;
using fuelrail::HWY_NAMESPACE::products;
using fuelrail::HWY_NAMESPACE::V16;
using fuelrail::HWY_NAMESPACE::V32;

using D8Half = hn::Rebind<uint8_t, D16>;
constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(D16()));

HWY_INLINE V16 load(const uint8_t* samples) {
  return hn::PromoteTo(D16(), hn::LoadU(D8Half(), samples));
}
HWY_INLINE V16 times_3(V16 v) { return hn::Add(v, hn::Add(v, v)); }

void WidenRow(const uint8_t* row, int64_t count, int16_t* sums) {
  for (int64_t i = -1; i <= count; i += kLanes) hn::StoreU(load(row + i), D16(), sums + i);
}

void SumRows(const uint8_t* current, const uint8_t* near, int64_t count, int16_t* sums) {
  for (int64_t i = -1; i <= count; i += kLanes) {
    hn::StoreU(hn::Add(times_3(load(current + i)), load(near + i)), D16(), sums + i);
  }
}

template <int kShift>
void enlarge(const int16_t* sums, int64_t count, int left_bias, int right_bias, uint8_t* to) {
  const V16 left_half = hn::Set(D16(), static_cast<int16_t>(left_bias));
  const V16 right_half = hn::Set(D16(), static_cast<int16_t>(right_bias));
  for (int64_t i = 0; i < count; i += kLanes) {
    const V16 middle = times_3(hn::LoadU(D16(), sums + i));
    const V16 left = hn::Add(hn::Add(middle, hn::LoadU(D16(), sums + i - 1)), left_half);
    const V16 right = hn::Add(hn::Add(middle, hn::LoadU(D16(), sums + i + 1)), right_half);
    // Both are at most 255 after the shift, and not negative.
    const V16 pairs =
        hn::Or(hn::ShiftRight<kShift>(left), hn::ShiftLeft<8>(hn::ShiftRight<kShift>(right)));
    hn::StoreU(hn::BitCast(hn::Repartition<uint8_t, D16>(), pairs), hn::Repartition<uint8_t, D16>(),
               to + 2 * i);
  }
}

void EnlargeRow(const int16_t* sums, int64_t count, int v, uint8_t* to) {
  if (v == 1) {
    enlarge<2>(sums, count, 1, 2, to);
  } else {
    enlarge<4>(sums, count, 8, 7, to);
  }
}

void EnlargeColumn(const uint8_t* current, const uint8_t* near, int64_t count, bool is_lower,
                   uint8_t* to) {
  const V16 half = hn::Set(D16(), is_lower ? 2 : 1);
  for (int64_t i = 0; i < count; i += kLanes) {
    const V16 sum = hn::Add(hn::Add(times_3(load(current + i)), load(near + i)), half);
    hn::StoreU(hn::DemoteTo(D8Half(), hn::ShiftRight<2>(sum)), D8Half(), to + i);
  }
}

HWY_INLINE V32 products_by_65536(V16 pairs, V16 weights) {
  return hn::ShiftRight<16>(hn::Add(products(pairs, weights), hn::Set(D32(), 1 << 15)));
}

// (2 * v * weight / 2^16 + 1) / 2, rounded down each time: v * weight / 2^16, rounded.
HWY_INLINE V16 product_by_65536(V16 twice_v, V16 weight) {
  return hn::ShiftRight<1>(hn::Add(hn::MulHigh(twice_v, weight), hn::Set(D16(), 1)));
}

// With 16-bit fractions: red = y + 1.40200 cr, green = y - 0.34414 cb - 0.71414 cr, blue = y +
// 1.77200 cb. Weights that 16 bits cannot hold are split into a whole number and a fraction.
HWY_INLINE void convert(const uint8_t* y_row, const uint8_t* cb_row, const uint8_t* cr_row,
                        uint8_t* to) {
  const V16 middle = hn::Set(D16(), 128);
  const V16 y = load(y_row);
  const V16 cb = hn::Sub(load(cb_row), middle);
  const V16 cr = hn::Sub(load(cr_row), middle);
  const V16 twice_cb = hn::Add(cb, cb);
  const V16 red =
      hn::Add(hn::Add(y, cr), product_by_65536(hn::Add(cr, cr), hn::Set(D16(), 91881 - 65536)));
  const V16 blue =
      hn::Add(hn::Add(y, twice_cb), product_by_65536(twice_cb, hn::Set(D16(), 116130 - 2 * 65536)));
  const V16 weights = pair_of(-22554, 65536 - 46802);
  const V32 lower = products_by_65536(hn::InterleaveLower(D16(), cb, cr), weights);
  const V32 upper = products_by_65536(hn::InterleaveUpper(D16(), cb, cr), weights);
  const V16 green = hn::Add(hn::Sub(y, cr), hn::ReorderDemote2To(D16(), lower, upper));
  hn::StoreInterleaved3(hn::DemoteTo(D8Half(), red), hn::DemoteTo(D8Half(), green),
                        hn::DemoteTo(D8Half(), blue), D8Half(), to);
}

// Calls write(i, to) for each vector of pixels from number i on.
template <typename Write>
HWY_INLINE void each_vector(int64_t count, uint8_t* to, Write write) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) write(i, to + 3 * i);
  if (i == count) return;
  uint8_t rest[3 * kLanes];
  write(i, rest);
  std::memcpy(to + 3 * i, rest, static_cast<size_t>(3 * (count - i)));
}

void YccToRgb(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, int64_t count, uint8_t* to) {
  each_vector(count, to,
              [=](int64_t i, uint8_t* out) HWY_ATTR { convert(y + i, cb + i, cr + i, out); });
}

void GreyToRgb(const uint8_t* grey, int64_t count, uint8_t* to) {
  each_vector(count, to, [=](int64_t i, uint8_t* out) HWY_ATTR {
    const auto v = hn::LoadU(D8Half(), grey + i);
    hn::StoreInterleaved3(v, v, v, D8Half(), out);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fuelrail::jpeg
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fuelrail::jpeg {

HWY_EXPORT(WidenRow);
HWY_EXPORT(SumRows);
HWY_EXPORT(EnlargeRow);
HWY_EXPORT(EnlargeColumn);
HWY_EXPORT(YccToRgb);
HWY_EXPORT(GreyToRgb);

void widen_row(const uint8_t* row, int64_t count, int16_t* sums) {
  HWY_DYNAMIC_DISPATCH(WidenRow)(row, count, sums);
}

void sum_rows(const uint8_t* current, const uint8_t* near, int64_t count, int16_t* sums) {
  HWY_DYNAMIC_DISPATCH(SumRows)(current, near, count, sums);
}

void enlarge_row(const int16_t* sums, int64_t count, int v, uint8_t* to) {
  HWY_DYNAMIC_DISPATCH(EnlargeRow)(sums, count, v, to);
}

void enlarge_column(const uint8_t* current, const uint8_t* near, int64_t count, bool is_lower,
                    uint8_t* to) {
  HWY_DYNAMIC_DISPATCH(EnlargeColumn)(current, near, count, is_lower, to);
}

void ycc_to_rgb(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, int64_t count,
                uint8_t* to) {
  HWY_DYNAMIC_DISPATCH(YccToRgb)(y, cb, cr, count, to);
}

void grey_to_rgb(const uint8_t* grey, int64_t count, uint8_t* to) {
  HWY_DYNAMIC_DISPATCH(GreyToRgb)(grey, count, to);
}

}  // namespace fuelrail::jpeg
#endif
