#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fuelrail/transform/warp.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "fuelrail/transform/portable_math.h"
#include "fuelrail/transform/warp.h"

#ifndef FUELRAIL_TRANSFORM_WARP_ONCE
#define FUELRAIL_TRANSFORM_WARP_ONCE
namespace fuelrail {
namespace {

// Places (input coordinates) are integers in units of 2^-16 pixels.
constexpr int kPlaceBits = 16;
constexpr int64_t kWarpBlock = 8;

// The places of kWarpBlock output pixels in a row: base + offset[i].
struct WarpBlock {
  int32_t x = 0;
  int32_t y = 0;
};
struct WarpOffsets {
  alignas(32) int32_t x[kWarpBlock] = {};
  alignas(32) int32_t y[kWarpBlock] = {};
};

}  // namespace
}  // namespace fuelrail
#endif

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

// One channel of pixels, one pixel per lane, with red in the lowest byte.
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

// Writes the pixels of `count` adjacent blocks. Requires: every place is at least 0 and below the
// last column and row; the image has fewer than 2^31 bytes and is followed by one readable byte.
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
namespace {

HWY_EXPORT(BlendBlocks);

constexpr int64_t kPlaceOne = int64_t{1} << kPlaceBits;

double half(int64_t length) { return static_cast<double>(length) * 0.5; }

// Converts pixels to units of 2^-16 pixels; clamps values that are far outside.
int64_t to_place(double pixels) {
  constexpr double kFar = 0x1p30;
  return std::llrint(std::clamp(pixels, -kFar, kFar) * static_cast<double>(kPlaceOne));
}

// The input coordinates that one row of the output shows.
class RowPlaces {
 public:
  RowPlaces(const WarpStep& step, Size input)
      : step_(step),
        x_(step.matrix[2] + half(input.width) - 0.5),
        y_(step.matrix[5] + half(input.height) - 0.5) {
    for (int64_t i = 0; i < kWarpBlock; ++i) {
      const auto at = static_cast<double>(i);
      offset_x_[i] = to_place(at * step.matrix[0]);
      offset_y_[i] = to_place(at * step.matrix[3]);
    }
  }

  void begin_row(int64_t row) {
    const double left = 0.5 - half(step_.output.width);
    const double down = static_cast<double>(row) + 0.5 - half(step_.output.height);
    row_x_ = step_.matrix[0] * left + step_.matrix[1] * down + x_;
    row_y_ = step_.matrix[3] * left + step_.matrix[4] * down + y_;
  }
  void begin_block(int64_t column) {
    const auto at = static_cast<double>(column);
    block_x_ = to_place(row_x_ + at * step_.matrix[0]);
    block_y_ = to_place(row_y_ + at * step_.matrix[3]);
  }

  // The place of pixel i of the block.
  int64_t x(int64_t i) const { return block_x_ + offset_x_[i]; }
  int64_t y(int64_t i) const { return block_y_ + offset_y_[i]; }

  // The offsets as the kernels need them. They are wrong if they overflow, but then no block is
  // inside.
  WarpOffsets offsets() const {
    WarpOffsets offsets;
    for (int64_t i = 0; i < kWarpBlock; ++i) {
      offsets.x[i] = static_cast<int32_t>(offset_x_[i]);
      offsets.y[i] = static_cast<int32_t>(offset_y_[i]);
    }
    return offsets;
  }

 private:
  const WarpStep& step_;
  double x_;
  double y_;
  int64_t offset_x_[kWarpBlock];
  int64_t offset_y_[kWarpBlock];
  double row_x_ = 0;
  double row_y_ = 0;
  int64_t block_x_ = 0;
  int64_t block_y_ = 0;
};

void put(const uint8_t* color, uint8_t* to) { std::memcpy(to, color, 3); }

bool has(ConstImageView image, int64_t y, int64_t x) {
  return y >= 0 && y < image.height && x >= 0 && x < image.width;
}

void nearest_pixel(ConstImageView from, const Border& border, int64_t place_x, int64_t place_y,
                   uint8_t* to) {
  int64_t x = (place_x + kPlaceOne / 2) >> kPlaceBits;
  int64_t y = (place_y + kPlaceOne / 2) >> kPlaceBits;
  if (border.mode == PaddingMode::kEdge) {
    x = std::clamp<int64_t>(x, 0, from.width - 1);
    y = std::clamp<int64_t>(y, 0, from.height - 1);
  }
  put(has(from, y, x) ? from.row(y) + 3 * x : border.fill.data(), to);
}

// The kernel's arithmetic for pixels at and beyond the image's edge.
void blended_pixel(ConstImageView from, const Border& border, int64_t place_x, int64_t place_y,
                   uint8_t* to) {
  const bool edge = border.mode == PaddingMode::kEdge;
  if (edge) {
    place_x = std::clamp<int64_t>(place_x, 0, (from.width - 1) * kPlaceOne);
    place_y = std::clamp<int64_t>(place_y, 0, (from.height - 1) * kPlaceOne);
  }
  const int64_t x = place_x >> kPlaceBits;
  const int64_t y = place_y >> kPlaceBits;
  if (x < -1 || y < -1 || x >= from.width || y >= from.height) return put(border.fill.data(), to);
  const float right = static_cast<float>(place_x & (kPlaceOne - 1)) / kPlaceOne;
  const float lower = static_cast<float>(place_y & (kPlaceOne - 1)) / kPlaceOne;
  const float weights[4] = {(1 - right) * (1 - lower), right * (1 - lower), (1 - right) * lower,
                            right * lower};
  float sums[3] = {};
  float inside = 0;
  for (int i = 0; i < 4; ++i) {
    const int64_t corner_x = x + i % 2;
    const int64_t corner_y = y + i / 2;
    if (!has(from, corner_y, corner_x)) continue;
    const uint8_t* pixel = from.row(corner_y) + 3 * corner_x;
    for (int c = 0; c < 3; ++c) sums[c] += static_cast<float>(pixel[c]) * weights[i];
    inside += weights[i];
  }
  for (int c = 0; c < 3; ++c) {
    const float fill = border.fill[static_cast<size_t>(c)];
    const float value = edge ? sums[c] : (sums[c] - fill) * inside + fill;
    to[c] =
        static_cast<uint8_t>(std::clamp(round_half_even(static_cast<double>(value)), 0.0, 255.0));
  }
}

// Decides whether the kernel may compute a block: all input pixels that it needs must be inside.
class Inside {
 public:
  explicit Inside(ConstImageView image)
      : end_x_((image.width - 1) * kPlaceOne), end_y_((image.height - 1) * kPlaceOne) {
    constexpr int64_t kMost = int64_t{1} << (31 - kPlaceBits);  // so that places fit 32 bits
    if (image.width <= kMost && image.height <= kMost &&
        image.height * image.row_stride_bytes < (int64_t{1} << 31)) {
      return;
    }
    end_x_ = end_y_ = 0;
  }
  // Places along a row are in order, so checking both ends is enough.
  bool holds(const RowPlaces& places) const {
    return holds(places.x(0), places.y(0)) &&
           holds(places.x(kWarpBlock - 1), places.y(kWarpBlock - 1));
  }

 private:
  bool holds(int64_t x, int64_t y) const { return x >= 0 && y >= 0 && x < end_x_ && y < end_y_; }
  int64_t end_x_;
  int64_t end_y_;
};

template <typename MakePixel>
void make_pixels(const RowPlaces& places, int64_t begin, int64_t width, uint8_t* row,
                 MakePixel make_pixel) {
  const int64_t count = std::min(kWarpBlock, width - begin);
  for (int64_t i = 0; i < count; ++i) {
    make_pixel(places.x(i), places.y(i), row + 3 * (begin + i));
  }
}

// Collects adjacent blocks for the kernel.
class Blocks {
 public:
  Blocks(ConstImageView from, const WarpOffsets& offsets) : from_(from), offsets_(offsets) {}
  void add(const RowPlaces& places, uint8_t* to) {
    if (count_ == 0) to_ = to;
    blocks_[count_++] = {static_cast<int32_t>(places.x(0)), static_cast<int32_t>(places.y(0))};
    if (count_ == kMost) flush();
  }
  void flush() {
    if (count_ > 0) {
      HWY_DYNAMIC_DISPATCH(BlendBlocks)(from_, blocks_, count_, offsets_, to_);
    }
    count_ = 0;
  }

 private:
  static constexpr int64_t kMost = 64;
  ConstImageView from_;
  const WarpOffsets& offsets_;
  WarpBlock blocks_[kMost];
  int64_t count_ = 0;
  uint8_t* to_ = nullptr;
};

// Calls visit(y, x, place_x, place_y) for each output pixel.
template <typename Visit>
void each_place(const WarpStep& step, Size input, Visit visit) {
  RowPlaces places(step, input);
  for (int64_t y = 0; y < step.output.height; ++y) {
    places.begin_row(y);
    for (int64_t begin = 0; begin < step.output.width; begin += kWarpBlock) {
      places.begin_block(begin);
      const int64_t count = std::min(kWarpBlock, step.output.width - begin);
      for (int64_t i = 0; i < count; ++i) visit(y, begin + i, places.x(i), places.y(i));
    }
  }
}

// The mean of four pixels' values `channel`. Requires: the place is in the image.
float blended_value(ConstRawView from, int64_t place_x, int64_t place_y, int64_t channel) {
  const int64_t x = place_x >> kPlaceBits;
  const int64_t y = place_y >> kPlaceBits;
  const double right = static_cast<double>(place_x & (kPlaceOne - 1)) / kPlaceOne;
  const double lower = static_cast<double>(place_y & (kPlaceOne - 1)) / kPlaceOne;
  const double weights[4] = {(1 - right) * (1 - lower), right * (1 - lower), (1 - right) * lower,
                             right * lower};
  double sum = 0;
  for (int i = 0; i < 4; ++i) {
    if (weights[i] == 0) continue;  // the pixel may be beyond the edge, or NaN
    float value;
    std::memcpy(&value,
                from.row(y + i / 2) +
                    ((x + i % 2) * from.channels + channel) * static_cast<int64_t>(sizeof value),
                sizeof value);
    sum += weights[i] * static_cast<double>(value);
  }
  return static_cast<float>(sum);
}

}  // namespace

Matrix inverse_affine(const AffineParameters& p) {
  const SineCosine turned = portable_sine_cosine(p.angle - p.shear[1]);
  const SineCosine angle = portable_sine_cosine(p.angle);
  const SineCosine shear_x = portable_sine_cosine(p.shear[0]);
  const double cos_shear_y = portable_sine_cosine(p.shear[1]).cosine;
  const double tan_shear_x = shear_x.sine / shear_x.cosine;
  const double a = turned.cosine / cos_shear_y;
  const double b = -turned.cosine * tan_shear_x / cos_shear_y - angle.sine;
  const double c = turned.sine / cos_shear_y;
  const double d = -turned.sine * tan_shear_x / cos_shear_y + angle.cosine;
  Matrix m{d, -b, 0.0, -c, a, 0.0};
  for (double& entry : m) entry /= p.scale;
  const double x = -p.center[0] - p.translate[0];
  const double y = -p.center[1] - p.translate[1];
  m[2] = m[0] * x + m[1] * y + p.center[0];
  m[5] = m[3] * x + m[4] * y + p.center[1];
  return m;
}

Size expanded_size(const Matrix& matrix, Size image) {
  // The extent of the corners, truncated to 4 decimals before it is rounded up to whole pixels.
  const auto extent = [&](double along_x, double along_y, int64_t length) {
    constexpr double kDecimals = 1e-4;
    const double reach =
        std::fabs(along_x) * half(image.width) + std::fabs(along_y) * half(image.height);
    const auto cut = [](double x) { return std::trunc(x / kDecimals) * kDecimals; };
    const double last = std::ceil(cut(half(length) + reach));
    const double first = std::floor(cut(half(length) - reach));
    return static_cast<int64_t>(last - first);
  };
  return {extent(matrix[3], matrix[4], image.height), extent(matrix[0], matrix[1], image.width)};
}

void warp(ConstImageView from, const WarpStep& step, ImageView to) {
  RowPlaces places(step, from.size());
  const WarpOffsets offsets = places.offsets();
  const Inside inside(from);
  Blocks blocks(from, offsets);
  const bool nearest = step.interpolation == Interpolation::kNearest;
  for (int64_t y = 0; y < to.height; ++y) {
    uint8_t* const row = to.row(y);
    places.begin_row(y);
    for (int64_t x = 0; x < to.width; x += kWarpBlock) {
      places.begin_block(x);
      const auto pixel = [&](auto make) {
        make_pixels(places, x, to.width, row, [&](int64_t at_x, int64_t at_y, uint8_t* into) {
          make(from, step.border, at_x, at_y, into);
        });
      };
      if (nearest) {
        pixel(nearest_pixel);
      } else if (x + kWarpBlock <= to.width && inside.holds(places)) {
        blocks.add(places, row + 3 * x);
        continue;
      } else {
        pixel(blended_pixel);
      }
      blocks.flush();
    }
    blocks.flush();
  }
}

void warp_nearest(ConstRawView from, const WarpStep& step, uint32_t fill, RawView to) {
  const bool edge = step.border.mode == PaddingMode::kEdge;
  const auto bytes = static_cast<size_t>(from.pixel_bytes());
  each_place(step, from.size(), [&](int64_t y, int64_t x, int64_t place_x, int64_t place_y) {
    int64_t column = (place_x + kPlaceOne / 2) >> kPlaceBits;
    int64_t row = (place_y + kPlaceOne / 2) >> kPlaceBits;
    if (edge) {
      column = std::clamp<int64_t>(column, 0, from.width - 1);
      row = std::clamp<int64_t>(row, 0, from.height - 1);
    }
    const bool inside = row >= 0 && row < from.height && column >= 0 && column < from.width;
    const void* const pixel = inside ? from.row(row) + column * from.pixel_bytes()
                                     : reinterpret_cast<const std::byte*>(&fill);
    std::memcpy(to.row(y) + x * to.pixel_bytes(), pixel, bytes);
  });
}

void warp_linear(ConstRawView from, const WarpStep& step, float fill, RawView to) {
  const bool edge = step.border.mode == PaddingMode::kEdge;
  const auto inside = [edge](int64_t place, int64_t length) {
    return edge || (place >= -kPlaceOne / 2 && place <= length * kPlaceOne - kPlaceOne / 2);
  };
  each_place(step, from.size(), [&](int64_t y, int64_t x, int64_t place_x, int64_t place_y) {
    const bool shown = inside(place_x, from.width) && inside(place_y, from.height);
    place_x = std::clamp<int64_t>(place_x, 0, (from.width - 1) * kPlaceOne);
    place_y = std::clamp<int64_t>(place_y, 0, (from.height - 1) * kPlaceOne);
    std::byte* into = to.row(y) + x * to.pixel_bytes();
    for (int64_t c = 0; c < from.channels; ++c, into += sizeof(float)) {
      const float value = shown ? blended_value(from, place_x, place_y, c) : fill;
      std::memcpy(into, &value, sizeof value);
    }
  });
}

}  // namespace fuelrail
#endif
