#include "fuelrail/transform/mask_runner.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <utility>
#include <variant>
#include <vector>

#include "fuelrail/base/scratch.h"
#include "fuelrail/transform/taps.h"
#include "fuelrail/transform/warp.h"

namespace fuelrail {
namespace {

RawView values_in(Scratch& memory, Size size, ConstRawView like) {
  const int64_t stride = size.width * like.pixel_bytes();
  auto* const data = memory.take(static_cast<size_t>(size.height * stride));
  return {reinterpret_cast<std::byte*>(data),
          size.height,
          size.width,
          like.channels,
          like.dtype,
          stride};
}

template <size_t kBytes>
void gather_row(const std::byte* from, const std::vector<int64_t>& columns, const std::byte* fill,
                std::byte* to) {
  for (const int64_t column : columns) {
    std::memcpy(to, column < 0 ? fill : from + column * static_cast<int64_t>(kBytes), kBytes);
    to += kBytes;
  }
}

}  // namespace

struct MaskRunner::Impl {
  void run(const Plan& plan, ConstRawView input, Box input_box, uint32_t fill, RawView to);
  // Which row (or column) of the current input each row of the output shows; -1: a constant border.
  using Line = std::vector<int64_t>;

  void start(Box box);
  void resample(const ResampleStep& step);
  void resample(const Axis& axis, int64_t box_begin, Span window, PaddingMode mode, Line& line);
  void flip(bool horizontal, bool vertical);
  ConstRawView warp(const WarpStep& step, ConstRawView input, uint32_t fill);
  void gather(ConstRawView input, uint32_t fill, RawView to) const;

  Line rows_;
  Line columns_;
  Line next_;
  std::vector<int64_t> places_;
  Taps taps_;
  Scratch gathered_;
  Scratch warped_;
};

void MaskRunner::Impl::run(const Plan& plan, ConstRawView input, Box input_box, uint32_t fill,
                           RawView to) {
  start(input_box);
  for (const ResampleStep& step : plan.steps) resample(step);
  for (const PixelStep& step : plan.pixel_steps) {
    if (const auto* resampling = std::get_if<ResampleStep>(&step)) {
      resample(*resampling);
    } else if (const auto* flipped = std::get_if<FlipStep>(&step)) {
      flip(flipped->horizontal, flipped->vertical);
    } else if (const auto* turned = std::get_if<WarpStep>(&step)) {
      input = warp(*turned, input, fill);
      start(whole(input.size()));
    }
  }
  flip(plan.flip_horizontal, plan.flip_vertical);
  gather(input, fill, to);
}

// Entries before the box's first row and column are never used.
void MaskRunner::Impl::start(Box box) {
  rows_.resize(static_cast<size_t>(box.bottom()));
  std::iota(rows_.begin(), rows_.end(), -box.top);
  columns_.resize(static_cast<size_t>(box.right()));
  std::iota(columns_.begin(), columns_.end(), -box.left);
}

void MaskRunner::Impl::resample(const ResampleStep& step) {
  if (shown(step).height == 0) {  // only border; of the input, needed_input gives a single pixel
    rows_.assign(static_cast<size_t>(step.window.height), -1);
    columns_.assign(static_cast<size_t>(step.window.width), -1);
    return;
  }
  resample(vertical_axis(step), step.box.top, {step.window.top, step.window.bottom()},
           step.border.mode, rows_);
  resample(horizontal_axis(step), step.box.left, {step.window.left, step.window.right()},
           step.border.mode, columns_);
}

void MaskRunner::Impl::resample(const Axis& axis, int64_t box_begin, Span window, PaddingMode mode,
                                Line& line) {
  const Span shown = compute_places(window, axis.output, mode, places_);
  if (shown.size() > 0) compute_taps(axis, shown, taps_);
  next_.clear();
  for (const int64_t place : places_) {
    if (place < 0) {
      next_.push_back(-1);
      continue;
    }
    const int64_t tap = taps_.spans[static_cast<size_t>(place - shown.begin)].begin;
    next_.push_back(line[static_cast<size_t>(box_begin + tap)]);
  }
  std::swap(line, next_);
}

void MaskRunner::Impl::flip(bool horizontal, bool vertical) {
  if (horizontal) std::reverse(columns_.begin(), columns_.end());
  if (vertical) std::reverse(rows_.begin(), rows_.end());
}

ConstRawView MaskRunner::Impl::warp(const WarpStep& step, ConstRawView input, uint32_t fill) {
  const Size size{static_cast<int64_t>(rows_.size()), static_cast<int64_t>(columns_.size())};
  const RawView from = values_in(gathered_, size, input);
  gather(input, fill, from);
  const RawView to = values_in(warped_, step.output, input);
  warp_nearest(from, step, fill, to);
  return to;
}

void MaskRunner::Impl::gather(ConstRawView input, uint32_t fill, RawView to) const {
  using GatherRow = decltype(&gather_row<1>);
  constexpr GatherRow kGather[] = {gather_row<1>, gather_row<2>, gather_row<3>, gather_row<4>};
  const int64_t bytes = input.pixel_bytes();
  const GatherRow copy_row = kGather[bytes - 1];
  const auto row_bytes = static_cast<size_t>(to.width * bytes);
  std::array<std::byte, sizeof fill> border{};
  std::memcpy(border.data(), &fill, sizeof fill);
  for (size_t y = 0; y < rows_.size(); ++y) {
    std::byte* const row = to.row(static_cast<int64_t>(y));
    if (y > 0 && rows_[y] == rows_[y - 1]) {
      std::memcpy(row, row - to.row_stride_bytes, row_bytes);
    } else if (rows_[y] >= 0) {
      copy_row(input.row(rows_[y]), columns_, border.data(), row);
    } else {
      for (int64_t x = 0; x < to.width; ++x) {
        std::memcpy(row + x * bytes, border.data(), static_cast<size_t>(bytes));
      }
    }
  }
}

MaskRunner::MaskRunner() : impl_(std::make_unique<Impl>()) {}
MaskRunner::~MaskRunner() = default;
MaskRunner::MaskRunner(MaskRunner&&) noexcept = default;
MaskRunner& MaskRunner::operator=(MaskRunner&&) noexcept = default;

void MaskRunner::run(const Plan& plan, ConstRawView input, Box input_box, uint32_t fill,
                     RawView to) {
  impl_->run(plan, input, input_box, fill, to);
}

}  // namespace fuelrail
