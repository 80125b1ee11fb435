#include "fuelrail/transform/geometry.h"

#include <algorithm>

#include "fuelrail/transform/taps.h"

namespace fuelrail {
namespace {

// The part of [0, length) that `positions` shows.
Span shown(Span positions, int64_t length, PaddingMode mode) {
  Span span{std::max<int64_t>(positions.begin, 0), std::min(positions.end, length)};
  if (mode == PaddingMode::kConstant) return span;
  if (span.size() <= 0) span = {length, 0};
  const auto take = [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      const int64_t pixel = continued(i, length, mode);
      span = {std::min(span.begin, pixel), std::max(span.end, pixel + 1)};
    }
  };
  take(positions.begin, std::min<int64_t>(positions.end, 0));
  take(std::max(positions.begin, length), positions.end);
  return span;
}

}  // namespace

int64_t continued(int64_t position, int64_t length, PaddingMode mode) {
  if (mode == PaddingMode::kEdge) return std::clamp<int64_t>(position, 0, length - 1);
  const bool repeats_edge = mode == PaddingMode::kSymmetric;
  const int64_t period = repeats_edge ? 2 * length : std::max<int64_t>(2 * (length - 1), 1);
  const int64_t place = (position % period + period) % period;
  if (place < length) return place;
  return period - place - (repeats_edge ? 1 : 0);
}

Box shown(const ResampleStep& step) {
  const PaddingMode mode = step.border.mode;
  const Span rows = shown({step.window.top, step.window.bottom()}, step.scaled.height, mode);
  const Span columns = shown({step.window.left, step.window.right()}, step.scaled.width, mode);
  if (rows.size() <= 0 || columns.size() <= 0) return {};
  return {rows.begin, columns.begin, rows.size(), columns.size()};
}

Box needed_input(const ResampleStep& step) {
  const Box visible = shown(step);
  if (visible.height == 0) return {step.box.top, step.box.left, 1, 1};
  const Span rows = footprint(vertical_axis(step), {visible.top, visible.bottom()});
  const Span columns = footprint(horizontal_axis(step), {visible.left, visible.right()});
  return {step.box.top + rows.begin, step.box.left + columns.begin, rows.size(), columns.size()};
}

int decode_eighths(const ResampleStep& step) {
  if (step.copies() || !step.antialias || takes_nearest(step.interpolation) || step.region) {
    return 8;
  }
  for (const int eighths : {1, 2, 4}) {
    if (step.box.height * eighths >= step.scaled.height * 8 &&
        step.box.width * eighths >= step.scaled.width * 8) {
      return eighths;
    }
  }
  return 8;
}

ResampleStep at_eighths(const ResampleStep& step, Size image, int eighths) {
  const double scale = eighths / 8.0;  // exact, and so are the products
  const auto begin = [&](int64_t place) { return place * eighths / 8; };
  const auto end = [&](int64_t place) { return (place * eighths + 7) / 8; };
  const auto exactly = [&](int64_t length) { return static_cast<double>(length) * scale; };
  const Size smaller = at_eighths(image, eighths);
  ResampleStep made = step;
  made.box.top = begin(step.box.top);
  made.box.left = begin(step.box.left);
  made.box.height = std::min(end(step.box.bottom()), smaller.height) - made.box.top;
  made.box.width = std::min(end(step.box.right()), smaller.width) - made.box.left;
  made.region = Region{exactly(step.box.top) - static_cast<double>(made.box.top),
                       exactly(step.box.left) - static_cast<double>(made.box.left),
                       exactly(step.box.height), exactly(step.box.width)};
  return made;
}

ResampleStep for_size(const ResampleStep& step, Size image, Size other) {
  if (image == other) return step;
  const auto scaled = [](int64_t place, int64_t from, int64_t to) {
    return static_cast<double>(place) * (static_cast<double>(to) / static_cast<double>(from));
  };
  // The whole pixels that hold the part from `begin` to `end`: at least one.
  const auto around = [](double begin, double end, int64_t length) {
    const auto first = std::clamp<int64_t>(static_cast<int64_t>(begin), 0, length - 1);
    auto last = static_cast<int64_t>(end);
    if (static_cast<double>(last) < end) ++last;
    return Span{first, std::clamp<int64_t>(last, first + 1, length)};
  };
  const double top = scaled(step.box.top, image.height, other.height);
  const double left = scaled(step.box.left, image.width, other.width);
  const double height = scaled(step.box.height, image.height, other.height);
  const double width = scaled(step.box.width, image.width, other.width);
  const Span rows = around(top, top + height, other.height);
  const Span columns = around(left, left + width, other.width);
  ResampleStep made = step;
  made.box = {rows.begin, columns.begin, rows.size(), columns.size()};
  made.region = Region{top - static_cast<double>(rows.begin),
                       left - static_cast<double>(columns.begin), height, width};
  return made;
}

}  // namespace fuelrail
