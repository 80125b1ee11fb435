#include "fuelrail/transform/cv_resize.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/transform/cv_columns.h"
#include "fuelrail/transform/cv_resize_kernels.h"
#include "fuelrail/transform/cv_taps.h"
#include "fuelrail/transform/portable_math.h"

namespace fuelrail {
namespace {

CvDirection rows_of(const CvResizeStep& step) {
  return {step.input.height, step.output.height, step.window.top, step.window.height};
}
CvDirection columns_of(const CvResizeStep& step) {
  return {step.input.width, step.output.width, step.window.left, step.window.width};
}

// OpenCV's method for a step.
enum class CvWay { kCopy, kNearest, kFilter, kBlocks, kArea };

// The number of input pixels per output pixel if it is an integer, else 0. Uses OpenCV's test,
// which does not recognise some exact multiples.
int64_t whole_scale(double scale) {
  const double whole = std::nearbyint(scale);
  return std::abs(scale - whole) < std::numeric_limits<double>::epsilon()
             ? static_cast<int64_t>(whole)
             : 0;
}

CvWay way_of(const CvResizeStep& step) {
  if (step.input == step.output) return CvWay::kCopy;
  if (step.interpolation == CvInterpolation::kNearest) return CvWay::kNearest;
  const double scale_y = cv_scale(step.input.height, step.output.height);
  const double scale_x = cv_scale(step.input.width, step.output.width);
  const int64_t whole_y = whole_scale(scale_y);
  const int64_t whole_x = whole_scale(scale_x);
  // Linear halving is done by area, which gives the same values but rounds them differently.
  const bool halves =
      step.interpolation == CvInterpolation::kLinear && whole_y == 2 && whole_x == 2;
  const bool area = step.interpolation == CvInterpolation::kArea && scale_y >= 1 && scale_x >= 1;
  if (!halves && !area) return CvWay::kFilter;
  return whole_y > 0 && whole_x > 0 ? CvWay::kBlocks : CvWay::kArea;
}

// The input pixels [first, second) of one direction.
using Reach = std::pair<int64_t, int64_t>;

Reach reach_of(CvWay way, const CvDirection& direction, CvInterpolation interpolation) {
  const double scale = cv_scale(direction.input, direction.output);
  const int64_t last = direction.begin + direction.count - 1;
  // One extra pixel on both sides costs less than computing the tables.
  const auto around = [&](int64_t taps) {
    const auto from =
        static_cast<int64_t>(std::floor(static_cast<double>(direction.begin) * scale));
    const auto to = static_cast<int64_t>(std::ceil(static_cast<double>(last + 1) * scale));
    // Folded taps at an edge are all inside.
    const int64_t begin = std::min(from - taps / 2 - 1, direction.input - taps);
    const int64_t end = std::max(to + taps / 2 + 1, taps);
    return Reach{std::max<int64_t>(0, begin), std::min(direction.input, end)};
  };
  switch (way) {
    case CvWay::kCopy:
      return {direction.begin, last + 1};
    case CvWay::kNearest:
      return around(0);
    case CvWay::kBlocks: {
      const int64_t whole = whole_scale(scale);
      return {direction.begin * whole, (last + 1) * whole};
    }
    case CvWay::kArea:
      return around(2);
    case CvWay::kFilter:
      break;
  }
  return around(interpolation == CvInterpolation::kLanczos4 ? 8
                : interpolation == CvInterpolation::kCubic  ? 4
                                                            : 2);
}

// The rows of an image, each followed by the readable bytes that the kernels need.
class ReadableRows {
 public:
  ReadableRows(ConstImageView from, int64_t bytes_read, std::vector<uint8_t>& copy)
      : from_(from),
        row_bytes_(from.width * from.channels),
        readable_((from.height - 1) * from.row_stride_bytes + row_bytes_),
        bytes_read_(bytes_read),
        copy_(copy) {}
  const uint8_t* row(int64_t y) {
    if (y * from_.row_stride_bytes + bytes_read_ <= readable_) return from_.row(y);
    copy_.resize(static_cast<size_t>(std::max(bytes_read_, row_bytes_)));
    std::memcpy(copy_.data(), from_.row(y), static_cast<size_t>(row_bytes_));
    return copy_.data();
  }

 private:
  ConstImageView from_;
  int64_t row_bytes_;
  int64_t readable_;
  int64_t bytes_read_;
  std::vector<uint8_t>& copy_;
};

void require_not_too_long(Size input) {
  if (input.height <= kCvLongestSide && input.width <= kCvLongestSide) return;
  throw UnsupportedError(
      "the image's height or width is too large for this interpolation",
      {.expected = fmt::format("a height and width of at most {} pixels", kCvLongestSide),
       .found = fmt::format("height {}, width {}", input.height, input.width),
       .remedy = "Split the image, or use nearest interpolation (method 0)"});
}

template <int64_t kChannels>
void take_pixels(const uint8_t* from, const std::vector<int64_t>& pixels, uint8_t* to) {
  for (const int64_t pixel : pixels) {
    std::memcpy(to, from + pixel * kChannels, kChannels);
    to += kChannels;
  }
}

}  // namespace

CvInterpolation cv_auto_interpolation(Size from, Size to) {
  if (to.height > from.height && to.width > from.width) return CvInterpolation::kCubic;
  if (to.height < from.height && to.width < from.width) return CvInterpolation::kArea;
  return CvInterpolation::kLinear;
}

Box needed_input(const CvResizeStep& step) {
  const CvWay way = way_of(step);
  const auto [top, bottom] = reach_of(way, rows_of(step), step.interpolation);
  const auto [left, right] = reach_of(way, columns_of(step), step.interpolation);
  return {top, left, bottom - top, right - left};
}

struct CvResizer::Impl {
  void resize(ConstImageView from, Box from_box, const CvResizeStep& step, ImageView to) {
    const CvWay way = way_of(step);
    if (way == CvWay::kCopy) return copy(from, from_box, step, to);
    if (way == CvWay::kNearest) return nearest(from, from_box, step, to);
    require_not_too_long(step.input);
    switch (way) {
      case CvWay::kBlocks:
        return blocks(from, from_box, step, to);
      case CvWay::kArea:
        return area(from, from_box, step, to);
      default:
        return filter(from, from_box, step, to);
    }
  }

  void filter(ConstImageView from, Box from_box, const CvResizeStep& step, ImageView to) {
    cv_taps(columns_of(step), step.interpolation, taps_);
    fold_edges(step.input.width, taps_);
    build(taps_, from_box.left, from.channels, columns_);
    cv_taps(rows_of(step), step.interpolation, taps_);
    switch (step.interpolation) {
      case CvInterpolation::kCubic:
        return filter<4>(from, from_box, step, to, floats_, cv_cubic_row, cv_blend_cubic);
      case CvInterpolation::kLanczos4:
        return filter<8>(from, from_box, step, to, ints_, cv_lanczos4_row, cv_blend_lanczos4);
      default:
        return filter<2>(from, from_box, step, to, shorts_, cv_linear_row, cv_blend_linear);
    }
  }

  static void copy(ConstImageView from, Box from_box, const CvResizeStep& step, ImageView to) {
    copy_rows(from.crop({step.window.top - from_box.top, step.window.left - from_box.left,
                         step.window.height, step.window.width}),
              to);
  }

  void nearest(ConstImageView from, Box from_box, const CvResizeStep& step, ImageView to) {
    cv_nearest(rows_of(step), row_pixels_);
    cv_nearest(columns_of(step), column_pixels_);
    for (int64_t& pixel : column_pixels_) pixel -= from_box.left;
    const auto take = from.channels == 1   ? take_pixels<1>
                      : from.channels == 3 ? take_pixels<3>
                                           : take_pixels<4>;
    for (int64_t y = 0; y < to.height; ++y) {
      const int64_t row = row_pixels_[static_cast<size_t>(y)];
      take(from.row(row - from_box.top), column_pixels_, to.row(y));
    }
  }

  // Filters along rows and then along columns, as separate sums of `kTaps`.
  template <size_t kTaps, typename Value, typename MakeRow, typename Blend>
  void filter(ConstImageView from, Box from_box, const CvResizeStep& step, ImageView to,
              std::vector<Value>& buffer, MakeRow make_row, Blend blend) {
    const int64_t stride = cv_row_values(to.width, to.channels);
    const int64_t values = to.width * cv_lanes(to.channels);
    buffer.resize(kTaps * static_cast<size_t>(stride));
    std::array<int64_t, kTaps> held;  // the input row that each slot holds
    held.fill(-1);
    ReadableRows rows(from, columns_.bytes_read, copy_);
    for (int64_t y = 0; y < to.height; ++y) {
      std::array<const Value*, kTaps> sources;
      for (size_t k = 0; k < kTaps; ++k) {
        const int64_t row =
            std::clamp<int64_t>(taps_.first[static_cast<size_t>(y)] + static_cast<int64_t>(k), 0,
                                step.input.height - 1);
        const size_t slot = static_cast<size_t>(row) % kTaps;
        Value* const made = buffer.data() + slot * static_cast<size_t>(stride);
        if (held[slot] != row) make_row(columns_, rows.row(row - from_box.top), made);
        held[slot] = row;
        sources[k] = made;
      }
      const int16_t* const weights = taps_.weights.data() + y * static_cast<int64_t>(kTaps);
      put(to, y, [&](uint8_t* bytes) {
        blend(std::span<const Value* const, kTaps>(sources), weights, values, bytes);
      });
      if constexpr (kTaps == 4) finish_cubic_row(step, sources, weights, to, y);
    }
  }

  // OpenCV computes cubic rows in float, 8 values at a time, and the rest of a row in integers.
  static void finish_cubic_row(const CvResizeStep& step, const std::array<const float*, 4>& sources,
                               const int16_t* weights, ImageView to, int64_t y) {
    const int64_t channels = to.channels;
    const int64_t first = step.window.left * channels;  // the window's first value in the whole row
    const int64_t end = first + to.width * channels;
    const int64_t begin = std::max(first, step.output.width * channels / 8 * 8);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t x = (i - first) / channels;
      const int64_t at = x * cv_lanes(channels) + (i - first) % channels;
      int32_t sum = 1 << (2 * kCvWeightBits - 1);
      for (size_t k = 0; k < 4; ++k) sum += weights[k] * static_cast<int32_t>(sources[k][at]);
      to.row(y)[i - first] = static_cast<uint8_t>(std::clamp(sum >> (2 * kCvWeightBits), 0, 255));
    }
  }

  // Means of whole blocks of pixels.
  void blocks(ConstImageView from, Box from_box, const CvResizeStep& step, ImageView to) {
    const int64_t high = whole_scale(cv_scale(step.input.height, step.output.height));
    const int64_t wide = whole_scale(cv_scale(step.input.width, step.output.width));
    const ConstImageView window =
        from.crop({step.window.top * high - from_box.top, step.window.left * wide - from_box.left,
                   step.window.height * high, step.window.width * wide});
    if (high == 2 && wide == 2) return halves(window, to);
    const float share = 1.0f / static_cast<float>(high * wide);
    const int64_t bytes = window.width * to.channels;
    for (int64_t y = 0; y < to.height; ++y) {
      sums_.assign(static_cast<size_t>(bytes), 0);
      for (int64_t k = 0; k < high; ++k) cv_add_row(window.row(y * high + k), bytes, sums_.data());
      const int32_t* block = sums_.data();
      uint8_t* level = to.row(y);
      for (int64_t x = 0; x < to.width; ++x, block += wide * to.channels) {
        for (int64_t c = 0; c < to.channels; ++c) {
          int64_t sum = 0;  // for blocks of 3000 x 3000, the sum exceeds 32 bits
          for (int64_t k = 0; k < wide; ++k) sum += block[k * to.channels + c];
          *level++ = rounded_level(static_cast<float>(sum) * share);
        }
      }
    }
  }

  void halves(ConstImageView from, ImageView to) {
    // Either row may be the copied one.
    const int64_t bytes_read = from.width * from.channels + 64;
    ReadableRows upper(from, bytes_read, copy_);
    ReadableRows lower(from, bytes_read, second_copy_);
    for (int64_t y = 0; y < to.height; ++y) {
      put(to, y, [&](uint8_t* bytes) {
        cv_halve_rows(upper.row(2 * y), lower.row(2 * y + 1), to.width, to.channels, bytes);
      });
    }
  }

  static uint8_t rounded_level(float level) {
    return static_cast<uint8_t>(std::clamp(round_half_even(level), 0.0f, 255.0f));
  }

  void area(ConstImageView from, Box from_box, const CvResizeStep& step, ImageView to) {
    cv_area_taps(columns_of(step), area_taps_);
    build(area_taps_, from_box.left, from.channels, area_columns_);
    cv_area_taps(rows_of(step), area_taps_);
    const int64_t stride = cv_row_values(to.width, to.channels);
    const int64_t values = to.width * cv_lanes(to.channels);
    floats_.resize(2 * static_cast<size_t>(stride));
    float* const made = floats_.data();
    float* const sum = floats_.data() + stride;
    int64_t held = -1;
    ReadableRows rows(from, area_columns_.bytes_read, copy_);
    for (int64_t y = 0; y < to.height; ++y) {
      const auto at = static_cast<size_t>(y);
      const float* const weights = area_taps_.weights.data() + y * area_taps_.taps;
      for (int64_t k = 0; k < area_taps_.count[at]; ++k) {
        const int64_t row = area_taps_.first[at] + k;
        if (held != row) cv_area_row(area_columns_, rows.row(row - from_box.top), made);
        held = row;
        (k == 0 ? cv_area_begin : cv_area_add)(made, weights[k], values, sum);
      }
      put(to, y, [&](uint8_t* bytes) { cv_area_round(sum, values, bytes); });
    }
  }

  // Writes row y of `to`; `make` writes it with the lanes of a row between the passes.
  template <typename Make>
  void put(ImageView to, int64_t y, Make make) {
    bytes_.resize(static_cast<size_t>(cv_row_values(to.width, to.channels)));
    make(bytes_.data());
    if (to.channels == 3) return cv_drop_fourth(bytes_.data(), to.width, to.row(y));
    std::memcpy(to.row(y), bytes_.data(), static_cast<size_t>(to.width * to.channels));
  }

 private:
  CvTaps taps_;
  CvColumns columns_;
  CvAreaTaps area_taps_;
  CvAreaColumns area_columns_;
  std::vector<int64_t> row_pixels_;
  std::vector<int64_t> column_pixels_;
  std::vector<int16_t> shorts_;
  std::vector<float> floats_;
  std::vector<int32_t> ints_;
  std::vector<int32_t> sums_;
  std::vector<uint8_t> bytes_;
  std::vector<uint8_t> copy_;
  std::vector<uint8_t> second_copy_;
};

CvResizer::CvResizer() : impl_(std::make_unique<Impl>()) {}
CvResizer::~CvResizer() = default;
CvResizer::CvResizer(CvResizer&&) noexcept = default;
CvResizer& CvResizer::operator=(CvResizer&&) noexcept = default;

void CvResizer::resize(ConstImageView from, ImageView to, CvInterpolation interpolation) {
  const CvResizeStep step{from.size(), to.size(), whole(to.size()), interpolation};
  impl_->resize(from, whole(from.size()), step, to);
}

void CvResizer::resize(ConstImageView from, Box from_box, const CvResizeStep& step, ImageView to) {
  impl_->resize(from, from_box, step, to);
}

}  // namespace fuelrail
