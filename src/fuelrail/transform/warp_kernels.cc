#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fuelrail/transform/warp_kernels.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

#include "fuelrail/transform/warp_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace fuelrail {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::CappedTag<float, kWarpBlock>;
using DI = hn::RebindToSigned<DF>;
using DPart = hn::Rebind<uint8_t, DF>;
using VF = hn::Vec<DF>;
using VI = hn::Vec<DI>;

// Pixels of one corner, a pixel a lane: red in the lowest byte.
template <int kChannel>
HWY_INLINE VF channel(VI pixels) {
  return hn::ConvertTo(DF(), hn::And(hn::ShiftRight<8 * kChannel>(pixels), hn::Set(DI(), 0xff)));
}

struct Corners {
  VI pixels[4];  // top left, top right, bottom left, bottom right
  VF weights[4];
};

template <int kChannel>
HWY_INLINE hn::Vec<DPart> blended(const Corners& corners) {
  VF sum = hn::Mul(channel<kChannel>(corners.pixels[0]), corners.weights[0]);
  for (int i = 1; i < 4; ++i) {
    sum = hn::Add(sum, hn::Mul(channel<kChannel>(corners.pixels[i]), corners.weights[i]));
  }
  return hn::DemoteTo(DPart(), hn::NearestInt(sum));
}

void BlendBlocks(ConstImageView from, const WarpBlock* blocks, int64_t count,
                 const WarpOffsets& offsets, uint8_t* to) {
  const DI d;
  const DF df;
  const VI stride = hn::Set(d, static_cast<int32_t>(from.row_stride_bytes));
  const VI three = hn::Set(d, 3);
  const VI low_bits = hn::Set(d, (1 << kPlaceBits) - 1);
  const VF one = hn::Set(df, 1.0f);
  const VF unit = hn::Set(df, 1.0f / (1 << kPlaceBits));
  const auto* const base = reinterpret_cast<const int32_t*>(from.data);
  for (int64_t block = 0; block < count; ++block) {
    for (int64_t i = 0; i < kWarpBlock;
         i += static_cast<int64_t>(hn::Lanes(d)), to += 3 * hn::Lanes(d)) {
      const VI x = hn::Add(hn::Set(d, blocks[block].x), hn::Load(d, offsets.x + i));
      const VI y = hn::Add(hn::Set(d, blocks[block].y), hn::Load(d, offsets.y + i));
      const VF right = hn::Mul(hn::ConvertTo(df, hn::And(x, low_bits)), unit);
      const VF lower = hn::Mul(hn::ConvertTo(df, hn::And(y, low_bits)), unit);
      const VF left = hn::Sub(one, right);
      const VF upper = hn::Sub(one, lower);
      const VI place = hn::Add(hn::Mul(hn::ShiftRight<kPlaceBits>(y), stride),
                               hn::Mul(hn::ShiftRight<kPlaceBits>(x), three));
      const VI below = hn::Add(place, stride);
      const Corners corners{
          {hn::GatherOffset(d, base, place), hn::GatherOffset(d, base, hn::Add(place, three)),
           hn::GatherOffset(d, base, below), hn::GatherOffset(d, base, hn::Add(below, three))},
          {hn::Mul(left, upper), hn::Mul(right, upper), hn::Mul(left, lower),
           hn::Mul(right, lower)}};
      hn::StoreInterleaved3(blended<0>(corners), blended<1>(corners), blended<2>(corners), DPart(),
                            to);
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fuelrail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace fuelrail {

HWY_EXPORT(BlendBlocks);

void blend_blocks(ConstImageView from, const WarpBlock* blocks, int64_t count,
                  const WarpOffsets& offsets, uint8_t* to) {
  HWY_DYNAMIC_DISPATCH(BlendBlocks)(from, blocks, count, offsets, to);
}

}  // namespace fuelrail
#endif
