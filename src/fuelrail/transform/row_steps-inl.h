// Processes rows of interleaved pixels, 16 pixels at a time, with a vector of bytes for each
// channel, forwards or backwards. Included once for every instruction set, after hwy/highway.h.
// Private to the core.
#if defined(FUELRAIL_TRANSFORM_ROW_STEPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUELRAIL_TRANSFORM_ROW_STEPS_INL_H_
#undef FUELRAIL_TRANSFORM_ROW_STEPS_INL_H_
#else
#define FUELRAIL_TRANSFORM_ROW_STEPS_INL_H_
#endif

#include "fuelrail/transform/pixel_row.h"

HWY_BEFORE_NAMESPACE();
namespace fuelrail {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kStep = 16;

// Calls `visit(output pixel, source pixel, its bytes)` for the output pixels from `begin` on.
template <class Visit>
HWY_INLINE void for_each_pixel(const PixelRow& row, int64_t begin, Visit visit) {
  for (int64_t x = begin; x < row.width; ++x) {
    const int64_t source = row.flip ? row.width - 1 - x : x;
    visit(x, source, row.from + source * row.channels);
  }
}

using D8 = hn::FixedTag<uint8_t, kStep>;
using V8 = hn::Vec<D8>;

HWY_INLINE V8 reversed(V8 v) {
  alignas(16) static constexpr uint8_t kBackwards[16] = {15, 14, 13, 12, 11, 10, 9, 8,
                                                         7,  6,  5,  4,  3,  2,  1, 0};
  return hn::TableLookupBytes(v, hn::Load(D8(), kBackwards));
}

// Calls `take(first output pixel, first source pixel, levels of each channel...)` for each 16
// pixels of the row, in ascending order of outputs, because descending stores run at a third of the
// speed. The levels are in the output's order. Requires: kChannels == row.channels. Returns: the
// first output pixel that was not processed.
template <int kChannels, class Take>
HWY_INLINE int64_t for_each_step(const PixelRow& row, Take take) {
  int64_t x = 0;
  for (; x + kStep <= row.width; x += kStep) {
    const int64_t source = row.flip ? row.width - kStep - x : x;
    const uint8_t* const from = row.from + kChannels * source;
    const auto in_order = [&](auto... levels) HWY_ATTR {
      if (row.flip) {
        take(x, source, reversed(levels)...);
      } else {
        take(x, source, levels...);
      }
    };
    V8 first, second, third, fourth;
    if constexpr (kChannels == 1) {
      in_order(hn::LoadU(D8(), from));
    } else if constexpr (kChannels == 3) {
      hn::LoadInterleaved3(D8(), from, first, second, third);
      in_order(first, second, third);
    } else {
      hn::LoadInterleaved4(D8(), from, first, second, third, fourth);
      in_order(first, second, third, fourth);
    }
  }
  return x;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fuelrail
HWY_AFTER_NAMESPACE();

#endif
