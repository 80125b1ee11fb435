// The kernels process 16 pixels at once, whatever the vector's length.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fuelrail/transform/normalize.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "fuelrail/base/error.h"
#include "fuelrail/base/half.h"
#include "fuelrail/transform/normalize.h"
#include "fuelrail/transform/row_steps-inl.h"

#ifndef FUELRAIL_TRANSFORM_NORMALIZE_ONCE
#define FUELRAIL_TRANSFORM_NORMALIZE_ONCE
namespace fuelrail {
namespace {

// The destination of a row's channels: elements are `step` apart, which is 1 for planes and 3 for
// interleaved channels (the pointers are then adjacent).
template <typename Element>
struct ElementRow {
  Element* channel[3] = {};
  int64_t step = 1;
};

// Constants of (x / 255 - mean) / std, and its results as tables, at channel * 256 + level.
// `words`: bits of the 16-bit output type.
struct Conversion {
  const float* mean = nullptr;
  const float* std = nullptr;
  const float* floats = nullptr;
  const uint16_t* words = nullptr;
};

}  // namespace
}  // namespace fuelrail
#endif

HWY_BEFORE_NAMESPACE();
namespace fuelrail {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Writes output pixels [begin, row.width) by table; `convert` maps (channel, level) to an element.
template <typename Element, typename Convert>
void write_pixels(const PixelRow& row, int64_t begin, const ElementRow<Element>& to,
                  Convert convert) {
  for_each_pixel(row, begin, [&](int64_t x, int64_t, const uint8_t* pixel) {
    for (int64_t c = 0; c < 3; ++c) to.channel[c][x * to.step] = convert(c, pixel[c]);
  });
}

constexpr auto kSame = [](int64_t, uint8_t level) { return level; };

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

// Converts one channel's levels to floats. 1 / 255 is split into two floats, of which the first has
// 9 significant bits, so its product with a byte is exact. For all 256 levels, the sum of both
// products is then x / 255 rounded once.
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

// Calls `visit(offset, parts...)` for parts of 16 levels, each of which fills a vector of floats.
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

// Whether steps of the row begin at whole vectors in all three planes. Then they are streamed to
// memory: a batch is larger than the caches, and a line that is not cached need not be read first.
template <typename Element>
bool can_be_streamed(const ElementRow<Element>& to) {
  constexpr size_t kLargestVector = 64;
  const auto at_vector = [](const Element* channel) {
    return reinterpret_cast<uintptr_t>(channel) % kLargestVector == 0;
  };
  return to.step == 1 && std::all_of(to.channel, to.channel + 3, at_vector);
}

// Stores floats, or the results of `Narrow` for them.
template <class D, class Narrow, typename Element>
HWY_INLINE int64_t write_converted(const PixelRow& row, const Conversion& conversion,
                                   const ElementRow<Element>& to, D d, Narrow narrow) {
  const Convert red_of(conversion.mean[0], conversion.std[0]);
  const Convert green_of(conversion.mean[1], conversion.std[1]);
  const Convert blue_of(conversion.mean[2], conversion.std[2]);
  // Streaming a smaller vector would write 16 bytes.
  const bool streamed = hn::MaxLanes(d) * sizeof(Element) >= 16 && can_be_streamed(to);
  const auto store_part = [&](int64_t at, auto red, auto green, auto blue) HWY_ATTR {
    const auto r = narrow(red_of(red));
    const auto g = narrow(green_of(green));
    const auto b = narrow(blue_of(blue));
    if (to.step == 3) {
      hn::StoreInterleaved3(r, g, b, d, to.channel[0] + 3 * at);
    } else if (streamed) {
      hn::Stream(r, d, to.channel[0] + at);
      hn::Stream(g, d, to.channel[1] + at);
      hn::Stream(b, d, to.channel[2] + at);
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
  // On the other targets, Highway's conversion truncates.
#if HWY_TARGET != HWY_SSSE3 && HWY_TARGET != HWY_SSE4 && HWY_TARGET != HWY_EMU128
  const hn::Rebind<uint16_t, DF> d16;
  rest = write_converted(row, conversion, to, d16, [d16](hn::Vec<DF> v) HWY_ATTR {
    return hn::BitCast(d16, hn::DemoteTo(hn::Rebind<hwy::float16_t, DF>(), v));
  });
#endif
  write_pixels(row, rest, to,
               [&](int64_t c, uint8_t level) { return conversion.words[c * 256 + level]; });
}

// Writes the upper halves of the floats' bits, rounded to nearest even. Integer arithmetic makes
// the results bit-identical on every target.
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

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fuelrail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace fuelrail {
namespace {

HWY_EXPORT(WriteBytes);
HWY_EXPORT(WriteFloats);
HWY_EXPORT(WriteHalves);
HWY_EXPORT(WriteBfloats);

// Calls `write(source row, destination of its elements)` for each row.
template <typename Element, typename Write>
void for_each_row(ConstImageView from, bool flip_horizontal, bool flip_vertical, ImageLayout layout,
                  std::byte* to, Write write) {
  const int64_t plane = from.height * from.width;
  auto* const elements = reinterpret_cast<Element*>(to);
  for (int64_t y = 0; y < from.height; ++y) {
    const int64_t source = flip_vertical ? from.height - 1 - y : y;
    const PixelRow row{from.row(source), from.width, 3, flip_horizontal};
    if (layout == ImageLayout::kNhwc) {
      Element* at = elements + y * from.width * 3;
      write(row, ElementRow<Element>{{at, at + 1, at + 2}, 3});
    } else {
      Element* at = elements + y * from.width;
      write(row, ElementRow<Element>{{at, at + plane, at + 2 * plane}, 1});
    }
  }
}

}  // namespace

void check(const PixelFormat& format) {
  if (format.dtype == DType::kUint8) {
    if (!format.normalize) return;
    throw InvalidArgumentError("`Normalize` needs a floating-point output",
                               {.expected = "float32, float16 or bfloat16",
                                .found = name_of(format.dtype),
                                .remedy = "Remove Normalize, or set `dtype` to float32"});
  }
  if (format.dtype != DType::kFloat32 && format.dtype != DType::kFloat16 &&
      format.dtype != DType::kBfloat16) {
    throw InvalidArgumentError(
        "the dtype is not supported for images",
        {.expected = "uint8, float16, bfloat16 or float32", .found = name_of(format.dtype)});
  }
}

PixelWriter::PixelWriter(const PixelFormat& format)
    : format_(format), normalize_(format.normalize.value_or(Normalize{})) {
  check(format);
  if (format.dtype == DType::kUint8) return;
  for (size_t c = 0; c < 3; ++c) {
    for (int level = 0; level < 256; ++level) {
      const float unit = static_cast<float>(level) / 255.0f;
      floats_.push_back((unit - normalize_.mean[c]) / normalize_.std[c]);
      words_.push_back(format.dtype == DType::kBfloat16 ? to_bfloat16(floats_.back())
                                                        : to_half(floats_.back()));
    }
  }
}

void PixelWriter::write(ConstImageView from, bool flip_horizontal, bool flip_vertical,
                        std::byte* to) const {
  const auto each_row = [&]<typename Element>(Element, auto write) {
    for_each_row<Element>(from, flip_horizontal, flip_vertical, format_.layout, to, write);
  };
  const Conversion conversion{normalize_.mean.data(), normalize_.std.data(), floats_.data(),
                              words_.data()};
  if (format_.dtype == DType::kFloat32) {
    each_row(float{}, [&](const auto& row, const auto& into) {
      HWY_DYNAMIC_DISPATCH(WriteFloats)(row, conversion, into);
    });
  } else if (format_.dtype == DType::kFloat16) {
    each_row(uint16_t{}, [&](const auto& row, const auto& into) {
      HWY_DYNAMIC_DISPATCH(WriteHalves)(row, conversion, into);
    });
  } else if (format_.dtype == DType::kBfloat16) {
    each_row(uint16_t{}, [&](const auto& row, const auto& into) {
      HWY_DYNAMIC_DISPATCH(WriteBfloats)(row, conversion, into);
    });
  } else {
    const bool as_it_is = format_.layout == ImageLayout::kNhwc && !flip_horizontal;
    each_row(uint8_t{}, [&](const PixelRow& row, const ElementRow<uint8_t>& into) {
      if (as_it_is) {
        std::memcpy(into.channel[0], row.from, static_cast<size_t>(row.width * 3));
      } else {
        HWY_DYNAMIC_DISPATCH(WriteBytes)(row, into);
      }
    });
  }
  hwy::FlushStream();  // before another thread is told that the pixels are there
}

}  // namespace fuelrail
#endif
