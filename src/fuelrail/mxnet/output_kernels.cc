// The kernels take 16 pixels at once, whatever the vector's length.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fuelrail/mxnet/output_kernels.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

#include "fuelrail/mxnet/output_kernels.h"
#include "fuelrail/transform/row_steps-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fuelrail::mxnet {
namespace HWY_NAMESPACE {
namespace {

using namespace fuelrail::HWY_NAMESPACE;  // the steps of transform/
namespace hn = hwy::HWY_NAMESPACE;

// Output pixels [begin, row.width); `convert` makes an element of (channel, source pixel, level).
template <typename Element, typename Convert>
void write_rest(const PixelRow& row, int64_t begin, Element* const* to, Convert convert) {
  for_each_pixel(row, begin, [&](int64_t x, int64_t source, const uint8_t* pixel) {
    for (int64_t c = 0; c < row.channels; ++c) to[c][x] = convert(c, source, pixel[c]);
  });
}

constexpr auto kLevel = [](int64_t, int64_t, uint8_t level) { return level; };

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

int64_t WriteByteSteps(const PixelRow&, uint8_t* const*) { return 0; }

int64_t WriteFloatSteps(const PixelRow&, const OutputChannel*, bool, const float* const*,
                        float* const*) {
  return 0;
}

int64_t WriteSignedSteps(const PixelRow&, const int16_t*, const int16_t* const*, int8_t* const*) {
  return 0;
}

#else

using DF = hn::CappedTag<float, kStep>;
using VF = hn::Vec<DF>;
using DLevels = hn::Rebind<uint8_t, DF>;

// Calls `store(channel, first output pixel, first source pixel, levels)` for each channel of each
// 16 pixels. Returns: the first output pixel left over.
template <typename Store>
HWY_INLINE int64_t for_each_channel(const PixelRow& row, Store store) {
  const auto put = [&](int64_t at, int64_t source, auto... levels) HWY_ATTR {
    int64_t c = 0;
    (store(c++, at, source, levels), ...);
  };
  if (row.channels == 1) return for_each_step<1>(row, put);
  if (row.channels == 3) return for_each_step<3>(row, put);
  return for_each_step<4>(row, put);
}

int64_t WriteByteSteps(const PixelRow& row, uint8_t* const* to) {
  return for_each_channel(row, [&](int64_t c, int64_t at, int64_t, V8 levels)
                                   HWY_ATTR { hn::StoreU(levels, D8(), to[c] + at); });
}

int64_t WriteFloatSteps(const PixelRow& row, const OutputChannel* channels, bool divide,
                        const float* const* means, float* const* to) {
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(DF()));
  return for_each_channel(row, [&](int64_t c, int64_t at, int64_t source, V8 levels) HWY_ATTR {
    const DF d;
    alignas(16) uint8_t bytes[kStep];
    hn::Store(levels, D8(), bytes);
    const VF factor = hn::Set(d, channels[c].factor);
    const VF offset = hn::Set(d, channels[c].offset);
    VF mean = hn::Set(d, channels[c].mean);
    for (int64_t part = 0; part < kStep; part += kLanes) {
      if (means != nullptr) {
        const int64_t first = row.flip ? kStep - kLanes - part : part;
        mean = hn::LoadU(d, means[c] + source + first);
        if (row.flip) mean = hn::Reverse(d, mean);
      }
      const auto some = hn::Load(DLevels(), bytes + part);
      const VF level = hn::ConvertTo(d, hn::PromoteTo(hn::RebindToSigned<DF>(), some));
      const VF centred = hn::Sub(level, mean);
      const VF value = divide ? hn::Mul(hn::Div(centred, factor), offset)
                              : hn::Add(hn::Mul(centred, factor), offset);
      hn::StoreU(value, d, to[c] + at + part);
    }
  });
}

using D16 = hn::CappedTag<int16_t, kStep>;

// Means and differences are cut to 16 bits, far outside of a byte's range.
int64_t WriteSignedSteps(const PixelRow& row, const int16_t* mean, const int16_t* const* means,
                         int8_t* const* to) {
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(D16()));
  return for_each_channel(row, [&](int64_t c, int64_t at, int64_t source, V8 levels) HWY_ATTR {
    const D16 d;
    alignas(16) uint8_t bytes[kStep];
    hn::Store(levels, D8(), bytes);
    auto centre = hn::Set(d, mean[c]);
    for (int64_t part = 0; part < kStep; part += kLanes) {
      if (means != nullptr) {
        const int64_t first = row.flip ? kStep - kLanes - part : part;
        centre = hn::LoadU(d, means[c] + source + first);
        if (row.flip) centre = hn::Reverse(d, centre);
      }
      const auto level = hn::PromoteTo(d, hn::Load(hn::Rebind<uint8_t, D16>(), bytes + part));
      const hn::Rebind<int8_t, D16> d_to;
      hn::StoreU(hn::DemoteTo(d_to, hn::SaturatedSub(level, centre)), d_to, to[c] + at + part);
    }
  });
}

#endif

void WriteBytes(const PixelRow& row, uint8_t* const* to) {
  write_rest(row, WriteByteSteps(row, to), to, kLevel);
}

void WriteFloats(const PixelRow& row, const OutputChannel* channels, bool divide,
                 const float* const* means, float* const* to) {
  const int64_t rest = WriteFloatSteps(row, channels, divide, means, to);
  write_rest(row, rest, to, [&](int64_t c, int64_t source, uint8_t level) {
    const OutputChannel& channel = channels[c];
    const float mean = means != nullptr ? means[c][source] : channel.mean;
    const float centred = static_cast<float>(level) - mean;
    if (divide) return centred / channel.factor * channel.offset;
    return centred * channel.factor + channel.offset;
  });
}

void WriteSigned(const PixelRow& row, const int16_t* mean, const int16_t* const* means,
                 int8_t* const* to) {
  const int64_t rest = WriteSignedSteps(row, mean, means, to);
  write_rest(row, rest, to, [&](int64_t c, int64_t source, uint8_t level) {
    const int value = level - (means != nullptr ? means[c][source] : mean[c]);
    return static_cast<int8_t>(value < -128 ? -128 : (value > 127 ? 127 : value));
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fuelrail::mxnet
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace fuelrail::mxnet {

HWY_EXPORT(WriteBytes);
HWY_EXPORT(WriteFloats);
HWY_EXPORT(WriteSigned);

void write_output_bytes(const PixelRow& row, uint8_t* const* to) {
  HWY_DYNAMIC_DISPATCH(WriteBytes)(row, to);
}

void write_output_floats(const PixelRow& row, const OutputChannel* channels, bool divide,
                         const float* const* means, float* const* to) {
  HWY_DYNAMIC_DISPATCH(WriteFloats)(row, channels, divide, means, to);
}

void write_output_signed(const PixelRow& row, const int16_t* mean, const int16_t* const* means,
                         int8_t* const* to) {
  HWY_DYNAMIC_DISPATCH(WriteSigned)(row, mean, means, to);
}

}  // namespace fuelrail::mxnet
#endif
