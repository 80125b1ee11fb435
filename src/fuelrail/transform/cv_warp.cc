// Source: OpenCV 4.8, modules/imgproc/src/imgwarp.cpp. A place (input coordinates) is in fixed
// point with 10 bits, of which 5 are kept: 32 x 32 places between pixels, each with weights of 15
// bits. The kernel uses integers, so its results are bit-identical on every target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fuelrail/transform/cv_warp.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "fuelrail/base/simd_blocks-inl.h"
#include "fuelrail/transform/cv_columns.h"
#include "fuelrail/transform/cv_resize_kernels.h"
#include "fuelrail/transform/cv_taps.h"
#include "fuelrail/transform/cv_warp.h"
#include "fuelrail/transform/portable_math.h"

HWY_BEFORE_NAMESPACE();
namespace fuelrail {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Repeats the pair of 16-bit weights at kFirstByte of each block four times.
template <int kFirstByte>
HWY_INLINE V16 repeated_pair(V8 blocks) {
  constexpr uint8_t a = kFirstByte, b = a + 1, c = a + 2, d = a + 3;
  alignas(16) static constexpr uint8_t kShuffle[16] = {a, b, c, d, a, b, c, d,
                                                       a, b, c, d, a, b, c, d};
  return hn::BitCast(D16(), hn::TableLookupBytes(blocks, hn::LoadDup128(D8(), kShuffle)));
}

template <int kChannels>
void blend_places(ConstImageView from, const int32_t* offsets, const int32_t* sets, int64_t count,
                  const int16_t* weights, uint8_t* to) {
  const hn::Rebind<uint8_t, D32> quarter;
  const V32 half = hn::Set(D32(), 1 << 14);
  const uint8_t* const table = reinterpret_cast<const uint8_t*>(weights);
  for (int64_t i = 0; i < count; i += kBlocks, offsets += kBlocks, to += 4 * kBlocks) {
    int32_t in_table[4];
    for (int64_t b = 0; b < kBlocks; ++b) in_table[b] = 8 * sets[i + b];
    const V8 set = load_blocks(D8(), table, in_table);
    PairSums sums;
    const V8 upper = load_blocks(D8(), from.data, offsets);
    const V8 lower = load_blocks(D8(), from.data + from.row_stride_bytes, offsets);
    sums.add(pair_of_pixels<kChannels, 0>(upper), repeated_pair<0>(set));
    sums.add(pair_of_pixels<kChannels, 0>(lower), repeated_pair<4>(set));
    const V32 levels = hn::ShiftRight<15>(hn::Add(sums.sum(), half));
    hn::StoreU(hn::DemoteTo(quarter, levels), quarter, to);
  }
}

// Writes `count` pixels of 3 or 4 channels, with 4 bytes each, whose taps are all inside; also
// overwrites up to 16 more bytes. `offsets`: for each output pixel, the byte offset in the image of
// its first tap. `sets`: for each output pixel, the index of its weights, four int16 (upper left,
// upper right, lower left, lower right, sum 2^15). Requires: kReadBytes readable bytes at each
// offset, at each offset one row below, and at each set; places after the last, up to a multiple of
// kStep, are valid, too.
void BlendPlaces(ConstImageView from, const int32_t* offsets, const int32_t* sets, int64_t count,
                 const int16_t* weights, uint8_t* to) {
  if (from.channels == 3) return blend_places<3>(from, offsets, sets, count, weights, to);
  blend_places<4>(from, offsets, sets, count, weights, to);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fuelrail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace fuelrail {
namespace {

HWY_EXPORT(BlendPlaces);

constexpr int64_t kStep = 4;        // the kernel processes this number of places at a time
constexpr int64_t kReadBytes = 16;  // the kernel reads this number of bytes at each tap of a row

constexpr int kPlacesBits = 5;
constexpr int kPlaces = 1 << kPlacesBits;
constexpr int kCoordinateBits = 10;
constexpr double kCoordinateOne = 1 << kCoordinateBits;
constexpr int kSumBits = 15;
constexpr int32_t kSumOne = 1 << kSumBits;

// --- Weights ---

// kTaps x kTaps weights for each of kPlaces x kPlaces places; each set's sum is kSumOne.
template <int kTaps>
using WarpWeights = std::vector<std::array<int16_t, kTaps * kTaps>>;

template <int kTaps>
std::array<float, kTaps> weights_at(float x) {
  if constexpr (kTaps == 8) {
    return cv_lanczos4_weights(x);
  } else if constexpr (kTaps == 4) {
    return cv_cubic_weights(x);
  } else {
    return {1.0f - x, x};
  }
}

// Corrects the rounded weights' sum: a missing amount is added to the largest, and an excess is
// taken from the smallest, of the four weights right of and below the middle (the first of equal
// weights). Linear has one such weight, and one set that needs the correction: exactly on a pixel,
// where the weight of 32768 does not fit in 16 bits.
template <int kTaps>
void mend_sum(std::array<int16_t, kTaps * kTaps>& set, int32_t sum) {
  constexpr int kMiddle = kTaps / 2;
  constexpr int kEnd = std::min(kMiddle + 2, kTaps);
  int16_t* least = &set[kMiddle * kTaps + kMiddle];
  int16_t* most = least;
  for (int y = kMiddle; y < kEnd; ++y) {
    for (int x = kMiddle; x < kEnd; ++x) {
      int16_t& weight = set[static_cast<size_t>(y * kTaps + x)];
      if (weight < *least) {
        least = &weight;
      } else if (weight > *most) {
        most = &weight;
      }
    }
  }
  int16_t& mended = sum < kSumOne ? *most : *least;
  mended = static_cast<int16_t>(mended + kSumOne - sum);
}

template <int kTaps>
WarpWeights<kTaps> make_weights() {
  WarpWeights<kTaps> sets(kPlaces * kPlaces + 1);  // the last set is read but not used
  std::array<std::array<float, kTaps>, kPlaces> lines;
  for (int i = 0; i < kPlaces; ++i) {
    lines[static_cast<size_t>(i)] = weights_at<kTaps>(static_cast<float>(i) / kPlaces);
  }
  for (size_t i = 0; i + 1 < sets.size(); ++i) {
    const auto& down = lines[i / kPlaces];
    const auto& right = lines[i % kPlaces];
    int32_t sum = 0;
    for (size_t k = 0; k < kTaps * kTaps; ++k) {
      const float weight = down[k / kTaps] * right[k % kTaps] * static_cast<float>(kSumOne);
      const double fixed = round_half_even(static_cast<double>(weight));
      sets[i][k] = static_cast<int16_t>(std::clamp(fixed, -32768.0, 32767.0));
      sum += sets[i][k];
    }
    if (sum != kSumOne) mend_sum<kTaps>(sets[i], sum);
  }
  return sets;
}

// Computed once; the tables take 8, 32 and 128 KiB.
template <int kTaps>
const WarpWeights<kTaps>& warp_weights() {
  static const WarpWeights<kTaps> weights = make_weights<kTaps>();
  return weights;
}

// --- Places ---

// Rounds like x86: a value out of range becomes the smallest int32.
int32_t rounded_int(double value) {
  if (!(value > -0x1p31 && value < 0x1p31 - 1)) return std::numeric_limits<int32_t>::min();
  return static_cast<int32_t>(round_half_even(value));
}

int32_t wrapping_sum(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}

// The map from output to input.
std::array<double, 6> inverse_of(const std::array<double, 6>& m) {
  const double determinant = m[0] * m[4] - m[1] * m[3];
  const double by = determinant != 0 ? 1 / determinant : 0;
  std::array<double, 6> inverse{m[4] * by, m[1] * -by, 0, m[3] * -by, m[0] * by, 0};
  inverse[2] = -inverse[0] * m[2] - inverse[1] * m[5];
  inverse[5] = -inverse[3] * m[2] - inverse[4] * m[5];
  return inverse;
}

// The input coordinates that a row of the output shows.
class WarpPlaces {
 public:
  // `taps`: the number of adjacent pixels in each direction; 1: nearest.
  WarpPlaces(const CvAffine& affine, int64_t width, int taps)
      : matrix_(inverse_of(affine.m)), taps_(taps) {
    const auto columns = static_cast<size_t>(width);
    for (std::vector<int32_t>* values : {&steps_x_, &steps_y_, &x_, &y_, &sets_}) {
      values->resize(columns);
    }
    for (size_t i = 0; i < columns; ++i) {
      const auto at = static_cast<double>(i);
      steps_x_[i] = rounded_int(matrix_[0] * at * kCoordinateOne);
      steps_y_[i] = rounded_int(matrix_[3] * at * kCoordinateOne);
    }
  }

  void begin_row(int64_t row) {
    const int kept = taps_ == 1 ? 0 : kPlacesBits;
    const int dropped = kCoordinateBits - kept;
    const int32_t before = taps_ / 2 - (taps_ == 1 ? 0 : 1);
    const auto begin = [&](double along_row, double moved) {
      const double at = along_row * static_cast<double>(row) + moved;
      return wrapping_sum(rounded_int(at * kCoordinateOne), 1 << (dropped - 1));
    };
    const int32_t begin_x = begin(matrix_[1], matrix_[2]);
    const int32_t begin_y = begin(matrix_[4], matrix_[5]);
    for (size_t i = 0; i < x_.size(); ++i) {
      const int32_t place_x = wrapping_sum(begin_x, steps_x_[i]) >> dropped;
      const int32_t place_y = wrapping_sum(begin_y, steps_y_[i]) >> dropped;
      x_[i] = to_short(place_x >> kept) - before;
      y_[i] = to_short(place_y >> kept) - before;
      sets_[i] = (place_y & (kPlaces - 1)) * kPlaces + (place_x & (kPlaces - 1));
    }
  }

  // For column i: the coordinates of the first tap, and the index of the weights.
  int32_t x(int64_t i) const { return x_[static_cast<size_t>(i)]; }
  int32_t y(int64_t i) const { return y_[static_cast<size_t>(i)]; }
  const int32_t* sets() const { return sets_.data(); }

 private:
  static int32_t to_short(int32_t pixel) { return std::clamp(pixel, -32768, 32767); }

  std::array<double, 6> matrix_;
  int taps_;
  std::vector<int32_t> steps_x_, steps_y_;  // from the row's beginning, in units of 2^-10 pixels
  std::vector<int32_t> x_, y_, sets_;
};

// --- Pixels ---

template <int64_t kChannels>
void warp_nearest(ConstImageView from, const CvAffine& affine, uint8_t fill, ImageView to) {
  WarpPlaces places(affine, to.width, 1);
  for (int64_t row = 0; row < to.height; ++row) {
    places.begin_row(row);
    uint8_t* pixel = to.row(row);
    for (int64_t column = 0; column < to.width; ++column, pixel += kChannels) {
      const int64_t x = places.x(column);
      const int64_t y = places.y(column);
      if (x >= 0 && y >= 0 && x < from.width && y < from.height) {
        std::memcpy(pixel, from.row(y) + x * kChannels, kChannels);
      } else {
        std::memset(pixel, fill, kChannels);
      }
    }
  }
}

uint8_t level_of(int32_t sum) {
  return static_cast<uint8_t>(std::clamp((sum + kSumOne / 2) >> kSumBits, 0, 255));
}

// Computes a pixel whose taps begin at (y, x) and are all inside.
template <int kTaps, int64_t kChannels>
void inner_pixel(ConstImageView from, int64_t y, int64_t x, const int16_t* weights, uint8_t* to) {
  int32_t sums[kChannels] = {};
  for (int64_t v = 0; v < kTaps; ++v) {
    const uint8_t* tap = from.row(y + v) + x * kChannels;
    for (int64_t u = 0; u < kTaps; ++u, ++weights, tap += kChannels) {
      for (int64_t c = 0; c < kChannels; ++c) sums[c] += *weights * tap[c];
    }
  }
  for (int64_t c = 0; c < kChannels; ++c) to[c] = level_of(sums[c]);
}

// Computes a pixel with taps outside the image, which have the fill's level.
template <int kTaps, int64_t kChannels>
void outer_pixel(ConstImageView from, int64_t y, int64_t x, const int16_t* weights, uint8_t fill,
                 uint8_t* to) {
  int32_t sums[kChannels] = {};
  for (int64_t k = 0; k < kTaps * kTaps; ++k) {
    const int64_t tap_y = y + k / kTaps;
    const int64_t tap_x = x + k % kTaps;
    const bool inside = tap_y >= 0 && tap_x >= 0 && tap_y < from.height && tap_x < from.width;
    for (int64_t c = 0; c < kChannels; ++c) {
      sums[c] += weights[k] * (inside ? from.row(tap_y)[tap_x * kChannels + c] : fill);
    }
  }
  for (int64_t c = 0; c < kChannels; ++c) to[c] = level_of(sums[c]);
}

// Computes a pixel whose taps begin at (y, x), inside or outside the image.
template <int kTaps, int64_t kChannels>
void any_pixel(ConstImageView from, int64_t y, int64_t x, const int16_t* weights, uint8_t fill,
               uint8_t* to) {
  if (x >= from.width || y >= from.height || x + kTaps <= 0 || y + kTaps <= 0) {
    std::memset(to, fill, kChannels);
  } else if (x >= 0 && y >= 0 && x + kTaps <= from.width && y + kTaps <= from.height) {
    inner_pixel<kTaps, kChannels>(from, y, x, weights, to);
  } else {
    outer_pixel<kTaps, kChannels>(from, y, x, weights, fill, to);
  }
}

template <int kTaps, int64_t kChannels>
void warp_filtered(ConstImageView from, const CvAffine& affine, uint8_t fill, ImageView to) {
  const WarpWeights<kTaps>& weights = warp_weights<kTaps>();
  WarpPlaces places(affine, to.width, kTaps);
  for (int64_t row = 0; row < to.height; ++row) {
    places.begin_row(row);
    uint8_t* pixel = to.row(row);
    for (int64_t i = 0; i < to.width; ++i, pixel += kChannels) {
      const int16_t* const set = weights[static_cast<size_t>(places.sets()[i])].data();
      any_pixel<kTaps, kChannels>(from, places.y(i), places.x(i), set, fill, pixel);
    }
  }
}

// Linear interpolation; passes runs of pixels inside the image to the kernel.
template <int64_t kChannels>
class LinearWarp {
 public:
  LinearWarp(ConstImageView from, const CvAffine& affine, uint8_t fill, ImageView to)
      : from_(from),
        fill_(fill),
        to_(to),
        weights_(warp_weights<2>()),
        places_(affine, to.width, 2),
        offsets_(static_cast<size_t>(to.width)),
        made_(static_cast<size_t>(cv_row_values(to.width, 4))) {
    const int64_t end = (from.height - 1) * from.row_stride_bytes + from.width * kChannels;
    // Offsets must fit in 32 bits, and loads must end inside the image.
    last_offset_ = end < (int64_t{1} << 31) ? end - from.row_stride_bytes - kReadBytes : -1;
  }

  void run() {
    for (int64_t row = 0; row < to_.height; ++row) {
      places_.begin_row(row);
      int64_t begin = 0;  // the run's first pixel
      for (int64_t i = 0; i < to_.width; ++i) {
        if (put_offset(i)) continue;
        make_run(row, begin, i);
        make_pixel(row, i);
        begin = i + 1;
      }
      make_run(row, begin, to_.width);
    }
  }

 private:
  // Whether the kernel may compute pixel i of the row; if so, stores its offset.
  bool put_offset(int64_t i) {
    const int64_t x = places_.x(i), y = places_.y(i);
    if (x < 0 || y < 0 || x + 2 > from_.width || y + 2 > from_.height) return false;
    const int64_t offset = y * from_.row_stride_bytes + x * kChannels;
    if (offset > last_offset_) return false;
    offsets_[static_cast<size_t>(i)] = static_cast<int32_t>(offset);
    return true;
  }

  void make_pixel(int64_t row, int64_t i) {
    const int16_t* const set = weights_[static_cast<size_t>(places_.sets()[i])].data();
    any_pixel<2, kChannels>(from_, places_.y(i), places_.x(i), set, fill_,
                            to_.row(row) + i * kChannels);
  }

  void make_run(int64_t row, int64_t begin, int64_t end) {
    const int64_t count = (end - begin) / kStep * kStep;
    if (count > 0) {
      uint8_t* const pixels = to_.row(row) + begin * kChannels;
      HWY_DYNAMIC_DISPATCH(BlendPlaces)
      (from_, offsets_.data() + begin, places_.sets() + begin, count, weights_.front().data(),
       made_.data());
      if (kChannels == 3) {
        cv_drop_fourth(made_.data(), count, pixels);
      } else {
        std::memcpy(pixels, made_.data(), static_cast<size_t>(count * kChannels));
      }
    }
    for (int64_t i = begin + count; i < end; ++i) make_pixel(row, i);
  }

  ConstImageView from_;
  uint8_t fill_;
  ImageView to_;
  const WarpWeights<2>& weights_;
  WarpPlaces places_;
  std::vector<int32_t> offsets_;
  std::vector<uint8_t> made_;
  int64_t last_offset_;
};

template <int64_t kChannels>
void warp_linear(ConstImageView from, const CvAffine& affine, uint8_t fill, ImageView to) {
  if constexpr (kChannels == 1) {
    warp_filtered<2, 1>(from, affine, fill, to);
  } else {
    LinearWarp<kChannels>(from, affine, fill, to).run();
  }
}

template <int64_t kChannels>
void warp_channels(ConstImageView from, const CvAffine& affine, CvInterpolation interpolation,
                   uint8_t fill, ImageView to) {
  switch (interpolation) {
    case CvInterpolation::kNearest:
      return warp_nearest<kChannels>(from, affine, fill, to);
    case CvInterpolation::kCubic:
      return warp_filtered<4, kChannels>(from, affine, fill, to);
    case CvInterpolation::kLanczos4:
      return warp_filtered<8, kChannels>(from, affine, fill, to);
    case CvInterpolation::kLinear:
    case CvInterpolation::kArea:
      return warp_linear<kChannels>(from, affine, fill, to);
  }
}

}  // namespace

void cv_warp_affine(ConstImageView from, const CvAffine& affine, CvInterpolation interpolation,
                    uint8_t fill, ImageView to) {
  const auto warp = from.channels == 1   ? warp_channels<1>
                    : from.channels == 3 ? warp_channels<3>
                                         : warp_channels<4>;
  warp(from, affine, interpolation, fill, to);
}

}  // namespace fuelrail
#endif
