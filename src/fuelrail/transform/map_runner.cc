#include "fuelrail/transform/map_runner.h"

#include <algorithm>
#include <cstring>
#include <variant>
#include <vector>

#include "fuelrail/base/scratch.h"
#include "fuelrail/transform/taps.h"
#include "fuelrail/transform/warp.h"

namespace fuelrail {
namespace {

// Values in a record need not be aligned.
float value_at(const std::byte* row, int64_t i) {
  float value;
  std::memcpy(&value, row + i * static_cast<int64_t>(sizeof value), sizeof value);
  return value;
}

// The weighted sum of values at from(span.begin), ..., without those of weight 0, which may be NaN.
template <typename From>
float weighted(const ExactTaps& taps, int64_t output, From from) {
  const Span span = taps.spans[static_cast<size_t>(output)];
  const double* weight = taps.weights.data() + output * taps.stride;
  double sum = 0;
  for (int64_t i = span.begin; i < span.end; ++i, ++weight) {
    if (*weight != 0) sum += *weight * static_cast<double>(from(i));
  }
  return static_cast<float>(sum);
}

void copy_flipped(ConstRawView from, bool horizontal, bool vertical, RawView to) {
  const auto bytes = static_cast<size_t>(from.pixel_bytes());
  for (int64_t y = 0; y < to.height; ++y) {
    const std::byte* const row = from.row(vertical ? to.height - 1 - y : y);
    if (!horizontal) {
      std::memcpy(to.row(y), row, bytes * static_cast<size_t>(to.width));
      continue;
    }
    std::byte* into = to.row(y);
    for (int64_t x = to.width - 1; x >= 0; --x, into += bytes) {
      std::memcpy(into, row + static_cast<size_t>(x) * bytes, bytes);
    }
  }
}

}  // namespace

struct MapRunner::Impl {
  void run(const Plan& plan, ConstRawView input, Box input_box, float fill, RawView to);
  // The taps of each row (or column) of a window: the outputs' indices in `taps`; -1: a constant
  // border.
  struct Line {
    std::vector<int64_t> outputs;
    ExactTaps taps;
    Span shown;
  };

  ConstRawView resample(const ResampleStep& step, ConstRawView input, Box input_box, float fill);
  static Span take(const Axis& axis, Span window, PaddingMode mode, Line& line);
  RawView next(Size size, int64_t channels);

  Line rows_;
  Line columns_;
  Scratch across_;  // the needed rows of the input, resampled horizontally
  Scratch buffers_[2];
  int current_ = 0;
};

void MapRunner::Impl::run(const Plan& plan, ConstRawView input, Box input_box, float fill,
                          RawView to) {
  ConstRawView map = input;
  Box box = input_box;
  const auto resampled = [&](const ResampleStep& step) {
    map = resample(step, map, box, fill);
    box = whole(map.size());
  };
  for (const ResampleStep& step : plan.steps) resampled(step);
  for (const PixelStep& step : plan.pixel_steps) {
    if (const auto* resampling = std::get_if<ResampleStep>(&step)) {
      resampled(*resampling);
    } else if (const auto* flip = std::get_if<FlipStep>(&step)) {
      const RawView flipped = next(map.size(), map.channels);
      copy_flipped(map, flip->horizontal, flip->vertical, flipped);
      map = flipped;
    } else if (const auto* turned = std::get_if<WarpStep>(&step)) {
      const RawView warped = next(turned->output, map.channels);
      warp_linear(map, *turned, fill, warped);
      map = warped;
      box = whole(map.size());
    }
  }
  copy_flipped(map, plan.flip_horizontal, plan.flip_vertical, to);
}

RawView MapRunner::Impl::next(Size size, int64_t channels) {
  const int64_t stride = size.width * channels * static_cast<int64_t>(sizeof(float));
  auto* const data = buffers_[current_ ^= 1].take(static_cast<size_t>(size.height * stride));
  return {reinterpret_cast<std::byte*>(data),
          size.height,
          size.width,
          channels,
          DType::kFloat32,
          stride};
}

// Returns: the input pixels that the window needs, from the beginning of the box.
Span MapRunner::Impl::take(const Axis& axis, Span window, PaddingMode mode, Line& line) {
  const Span shown = compute_places(window, axis.output, mode, line.outputs);
  if (shown.size() <= 0) return {};
  compute_taps(axis, shown, line.taps);
  for (int64_t& output : line.outputs) output -= output < 0 ? 0 : shown.begin;
  return footprint(axis, shown);
}

ConstRawView MapRunner::Impl::resample(const ResampleStep& step, ConstRawView input, Box input_box,
                                       float fill) {
  const Axis vertical = vertical_axis(step);
  Span rows = take(vertical, {step.window.top, step.window.bottom()}, step.border.mode, rows_);
  const Span columns = take(horizontal_axis(step), {step.window.left, step.window.right()},
                            step.border.mode, columns_);
  if (columns.size() <= 0) rows = {};  // only border; of the input, there is a single pixel
  const int64_t channels = input.channels;
  const int64_t row_values = step.window.width * channels;
  // Writes a row: `make(output, x, channel)`, or `fill` in a border.
  const auto write_row = [&](float* to, auto make) {
    for (int64_t x = 0; x < step.window.width; ++x) {
      const int64_t output = columns_.outputs[static_cast<size_t>(x)];
      for (int64_t c = 0; c < channels; ++c) *to++ = output < 0 ? fill : make(output, x, c);
    }
  };
  auto* const across = reinterpret_cast<float*>(
      across_.take(static_cast<size_t>(rows.size() * row_values) * sizeof(float)));
  for (int64_t y = 0; y < rows.size(); ++y) {
    const std::byte* const from = input.row(step.box.top + rows.begin + y - input_box.top);
    write_row(across + y * row_values, [&](int64_t output, int64_t, int64_t c) {
      return weighted(columns_.taps, output, [&](int64_t x) {
        return value_at(from, (step.box.left + x - input_box.left) * channels + c);
      });
    });
  }
  const RawView made = next(step.window.size(), channels);
  for (int64_t y = 0; y < made.height; ++y) {
    const int64_t output = rows_.outputs[static_cast<size_t>(y)];
    write_row(made.row_of<float>(y), [&](int64_t, int64_t x, int64_t c) {
      if (output < 0) return fill;
      return weighted(rows_.taps, output, [&](int64_t row) {
        return across[(row - rows.begin) * row_values + x * channels + c];
      });
    });
  }
  return made;
}

MapRunner::MapRunner() : impl_(std::make_unique<Impl>()) {}
MapRunner::~MapRunner() = default;
MapRunner::MapRunner(MapRunner&&) noexcept = default;
MapRunner& MapRunner::operator=(MapRunner&&) noexcept = default;

void MapRunner::run(const Plan& plan, ConstRawView input, Box input_box, float fill, RawView to) {
  impl_->run(plan, input, input_box, fill, to);
}

}  // namespace fuelrail
