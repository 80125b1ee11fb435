// The kernels take 16 pixels at once, whatever the vector's length.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fuelrail/transform/normalize_kernels.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

#include "fuelrail/transform/normalize_kernels.h"
#include "fuelrail/transform/row_steps-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fuelrail {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Output pixels [begin, row.width) by table; `convert` maps (channel, level) to an element.
template <typename Element, typename Convert>
void write_pixels(const PixelRow& row, int64_t begin, const ElementRow<Element>& to,
                  Convert convert) {
  for_each_pixel(row, begin, [&](int64_t x, int64_t, const uint8_t* pixel) {
    for (int64_t c = 0; c < 3; ++c) to.channel[c][x * to.step] = convert(c, pixel[c]);
  });
}

constexpr auto kSame = [](int64_t, uint8_t level) { return level; };

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

void WriteBytes(const PixelRow& row, const ElementRow<uint8_t>& to) {
  write_pixels(row, 0, to, kSame);
}

void WriteFloats(const PixelRow& row, const Conversion& conversion, const ElementRow<float>& to) {
  write_pixels(row, 0, to,
               [&](int64_t c, uint8_t level) { return conversion.floats[c * 256 + level]; });
}

// By table: the bits of either 16-bit type.
void WriteWords(const PixelRow& row, const Conversion& conversion, const ElementRow<uint16_t>& to) {
  write_pixels(row, 0, to,
               [&](int64_t c, uint8_t level) { return conversion.words[c * 256 + level]; });
}

void WriteHalves(const PixelRow& row, const Conversion& conversion,
                 const ElementRow<uint16_t>& to) {
  WriteWords(row, conversion, to);
}

void WriteBfloats(const PixelRow& row, const Conversion& conversion,
                  const ElementRow<uint16_t>& to) {
  WriteWords(row, conversion, to);
}

#else

using DF = hn::CappedTag<float, kStep>;

void WriteBytes(const PixelRow& row, const ElementRow<uint8_t>& to) {
  const int64_t rest =
      for_each_step<3>(row, [&](int64_t at, int64_t, V8 red, V8 green, V8 blue) HWY_ATTR {
        if (to.step == 3) {
          hn::StoreInterleaved3(red, green, blue, D8(), to.channel[0] + 3 * at);
        } else {
          hn::StoreU(red, D8(), to.channel[0] + at);
          hn::StoreU(green, D8(), to.channel[1] + at);
          hn::StoreU(blue, D8(), to.channel[2] + at);
        }
      });
  write_pixels(row, rest, to, kSame);
}

// One channel's levels to floats. 1 / 255 is the sum of two floats of which the first has 9
// significant bits: its product with a byte is exact, and the sum of both products is x / 255
// rounded once, for all 256 levels.
class Convert {
 public:
  HWY_INLINE Convert(float mean, float std)
      : mean_(hn::Set(DF(), mean)), std_(hn::Set(DF(), std)) {}

  HWY_INLINE hn::Vec<DF> operator()(hn::Vec<hn::Rebind<uint8_t, DF> > levels) const {
    const DF d;
    const auto x = hn::ConvertTo(d, hn::PromoteTo(hn::RebindToSigned<DF>(), levels));
    const auto unit =
        hn::Add(hn::Mul(x, hn::Set(d, 0x1.01p-8f)), hn::Mul(x, hn::Set(d, 0x1.010102p-24f)));
    return hn::Div(hn::Sub(unit, mean_), std_);
  }

 private:
  hn::Vec<DF> mean_;
  hn::Vec<DF> std_;
};

// Calls `visit(offset, parts...)` with the parts of 16 levels that fill a vector of floats each.
template <class D, class Visit, class... V>
HWY_INLINE void for_each_part(D d, int64_t offset, Visit visit, V... levels) {
  if constexpr (hn::MaxLanes(d) == hn::MaxLanes(DF())) {
    visit(offset, levels...);
  } else {
    const hn::Half<D> half;
    for_each_part(half, offset, visit, hn::LowerHalf(half, levels)...);
    for_each_part(half, offset + static_cast<int64_t>(hn::MaxLanes(half)), visit,
                  hn::UpperHalf(half, levels)...);
  }
}

// Stores floats, or what `Narrow` makes of them.
template <class D, class Narrow, typename Element>
HWY_INLINE int64_t write_converted(const PixelRow& row, const Conversion& conversion,
                                   const ElementRow<Element>& to, D d, Narrow narrow) {
  const Convert red_of(conversion.mean[0], conversion.std[0]);
  const Convert green_of(conversion.mean[1], conversion.std[1]);
  const Convert blue_of(conversion.mean[2], conversion.std[2]);
  const auto store_part = [&](int64_t at, auto red, auto green, auto blue) HWY_ATTR {
    const auto r = narrow(red_of(red));
    const auto g = narrow(green_of(green));
    const auto b = narrow(blue_of(blue));
    if (to.step == 3) {
      hn::StoreInterleaved3(r, g, b, d, to.channel[0] + 3 * at);
    } else {
      hn::StoreU(r, d, to.channel[0] + at);
      hn::StoreU(g, d, to.channel[1] + at);
      hn::StoreU(b, d, to.channel[2] + at);
    }
  };
  return for_each_step<3>(row, [&](int64_t at, int64_t, V8 red, V8 green, V8 blue) HWY_ATTR {
    for_each_part(D8(), at, store_part, red, green, blue);
  });
}

void WriteFloats(const PixelRow& row, const Conversion& conversion, const ElementRow<float>& to) {
  const int64_t rest =
      write_converted(row, conversion, to, DF(), [](hn::Vec<DF> v) HWY_ATTR { return v; });
  write_pixels(row, rest, to,
               [&](int64_t c, uint8_t level) { return conversion.floats[c * 256 + level]; });
}

void WriteHalves(const PixelRow& row, const Conversion& conversion,
                 const ElementRow<uint16_t>& to) {
  int64_t rest = 0;
#if HWY_TARGET != HWY_SSSE3 && HWY_TARGET != HWY_SSE4  // Highway's conversion truncates there
  const hn::Rebind<uint16_t, DF> d16;
  rest = write_converted(row, conversion, to, d16, [d16](hn::Vec<DF> v) HWY_ATTR {
    return hn::BitCast(d16, hn::DemoteTo(hn::Rebind<hwy::float16_t, DF>(), v));
  });
#endif
  write_pixels(row, rest, to,
               [&](int64_t c, uint8_t level) { return conversion.words[c * 256 + level]; });
}

// The upper halves of the floats' bits, rounded to nearest even: integers, so the same everywhere.
void WriteBfloats(const PixelRow& row, const Conversion& conversion,
                  const ElementRow<uint16_t>& to) {
  const hn::RebindToUnsigned<DF> d32;
  const hn::Rebind<uint16_t, DF> d16;
  const int64_t rest =
      write_converted(row, conversion, to, d16, [d32, d16](hn::Vec<DF> v) HWY_ATTR {
        const auto bits = hn::BitCast(d32, v);
        const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d32, 1));
        const auto rounded = hn::Add(hn::Add(bits, hn::Set(d32, 0x7fff)), odd);
        return hn::TruncateTo(d16, hn::ShiftRight<16>(rounded));
      });
  write_pixels(row, rest, to,
               [&](int64_t c, uint8_t level) { return conversion.words[c * 256 + level]; });
}

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fuelrail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace fuelrail {

HWY_EXPORT(WriteBytes);
HWY_EXPORT(WriteFloats);
HWY_EXPORT(WriteHalves);
HWY_EXPORT(WriteBfloats);

void write_row(const PixelRow& row, const ElementRow<uint8_t>& to) {
  HWY_DYNAMIC_DISPATCH(WriteBytes)(row, to);
}

void write_row(const PixelRow& row, const Conversion& conversion, const ElementRow<float>& to) {
  HWY_DYNAMIC_DISPATCH(WriteFloats)(row, conversion, to);
}

void write_half_row(const PixelRow& row, const Conversion& conversion,
                    const ElementRow<uint16_t>& to) {
  HWY_DYNAMIC_DISPATCH(WriteHalves)(row, conversion, to);
}

void write_bfloat16_row(const PixelRow& row, const Conversion& conversion,
                        const ElementRow<uint16_t>& to) {
  HWY_DYNAMIC_DISPATCH(WriteBfloats)(row, conversion, to);
}

}  // namespace fuelrail
#endif
