#include "fuelrail/transform/resize.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <vector>

#include "fuelrail/transform/resize_kernels.h"
#include "fuelrail/transform/taps.h"

namespace fuelrail {
namespace {

// A buffer that begins at a cache line and keeps its memory.
class AlignedBuffer {
 public:
  uint8_t* reserve(int64_t bytes) {
    if (bytes > size_) {
      data_.reset(new (std::align_val_t{kAlignment}) uint8_t[static_cast<size_t>(bytes)]);
      size_ = bytes;
    }
    return data_.get();
  }

 private:
  static constexpr size_t kAlignment = 64;
  struct Delete {
    void operator()(uint8_t* data) const {
      ::operator delete[](data, std::align_val_t{kAlignment});
    }
  };
  std::unique_ptr<uint8_t[], Delete> data_;
  int64_t size_ = 0;
};

int64_t padded(int64_t bytes) {
  return (bytes + 2 * kRowPaddingBytes - 1) / kRowPaddingBytes * kRowPaddingBytes;
}

size_t index(int64_t i) { return static_cast<size_t>(i); }

// Pillow 13 does the vertical pass first if the height loses more than twice as many pixels as the
// width. This changes pixels, because each pass rounds and clips. (Older versions and torch always
// do the horizontal pass first.)
bool vertical_comes_first(const ResampleStep& step) {
  const int64_t lost_rows = step.box.height - step.scaled.height;
  const int64_t lost_columns = step.box.width - step.scaled.width;
  return step.antialias && lost_rows > 0 && lost_rows > 2 * lost_columns;
}

void fill(ImageView image, const std::array<uint8_t, 3>& color) {
  uint8_t* const first = image.row(0);
  if (color[0] == color[1] && color[1] == color[2]) {
    std::memset(first, color[0], index(image.width * 3));
  } else {
    for (int64_t x = 0; x < image.width; ++x) std::memcpy(first + 3 * x, color.data(), 3);
  }
  for (int64_t y = 1; y < image.height; ++y) {
    std::memcpy(image.row(y), first, index(image.width * 3));
  }
}

// Fills the window outside `part` with the border's pixels. `inner` holds the pixels of `part`; it
// is a part of `to` if `part` is inside the window, otherwise it is separate.
void extend(ConstImageView inner, Box part, const ResampleStep& step, ImageView to) {
  const PaddingMode mode = step.border.mode;
  const Box& window = step.window;
  const bool in_place = window.contains(part);
  const auto row_of = [&](int64_t y) {
    return continued(window.top + y, step.scaled.height, mode);
  };
  const auto widen = [&](const uint8_t* from, uint8_t* into) {
    for (int64_t x = 0; x < window.width; ++x) {
      const int64_t column = window.left + x;
      if (in_place && column == part.left) x += part.width;  // already written
      if (x == window.width) break;
      const int64_t source = continued(window.left + x, step.scaled.width, mode);
      std::memcpy(into + 3 * x, from + 3 * (source - part.left), 3);
    }
  };
  const int64_t first = std::max<int64_t>(part.top - window.top, 0);
  const int64_t last = std::min(part.bottom() - window.top, window.height);
  if (in_place) {
    for (int64_t y = first; y < last; ++y) widen(inner.row(y - first), to.row(y));
  }
  for (int64_t y = 0; y < window.height; ++y) {
    if (in_place && y >= first && y < last) continue;
    const int64_t source = row_of(y) - part.top;
    if (in_place) {
      std::memcpy(to.row(y), to.row(first + source), index(window.width * 3));
    } else {
      widen(inner.row(source), to.row(y));
    }
  }
}

}  // namespace

struct Resampler::Impl {
  // The input as rows that begin at the first needed column; row 0 is the first needed row.
  // `bytes_left`: bytes from the row's beginning to the end of the readable memory.
  struct Input {
    ConstImageView view;
    const uint8_t* row(int64_t y) const { return view.row(y); }
    int64_t bytes_left(int64_t y) const {
      return (view.height - 1 - y) * view.row_stride_bytes + view.width * 3;
    }
  };

  void make(ConstImageView input, Box input_box, const ResampleStep& step, Box part, ImageView to);
  void copy(const Input& input, ImageView to);
  void nearest(const Input& input, Span rows, Span columns, ImageView to);
  void horizontal_only(const Input& input, ImageView to);
  void vertical_only(const Input& input, Span rows, ImageView to);
  void horizontal_first(const Input& input, Span rows, ImageView to);
  void vertical_first(const Input& input, Span rows, ImageView to);

  void resample_horizontally(const Input& input, int64_t y, size_t count, uint8_t* const* into);
  void blend_input(const Input& input, Span rows, int64_t output, uint8_t* to);
  void blend(size_t output, uint8_t* to, int64_t bytes);

  Taps horizontal_taps;
  Taps vertical_taps;
  HorizontalTable table;
  AlignedBuffer rows;    // ring of horizontally resampled rows
  AlignedBuffer beside;  // pixels that a border repeats and the output does not contain
  AlignedBuffer edge;    // copies of input rows beyond whose end a vector would read
  std::vector<const uint8_t*> sources;
  std::vector<VerticalPair> pairs;
};

// Writes `count` (1 or 2) resampled rows, from row y of the input on.
void Resampler::Impl::resample_horizontally(const Input& input, int64_t y, size_t count,
                                            uint8_t* const* into) {
  std::array<const uint8_t*, 2> from;
  for (size_t r = 0; r < count; ++r) {
    const int64_t row = y + static_cast<int64_t>(r);
    from[r] = input.row(row);
    if (input.bytes_left(row) >= table.bytes_read) continue;
    const int64_t stride = padded(table.bytes_read);
    uint8_t* copy = edge.reserve(2 * stride) + static_cast<int64_t>(r) * stride;
    std::memcpy(copy, from[r], index(input.view.width * 3));
    from[r] = copy;
  }
  resample_rows(table, {from.data(), count}, {into, count});
}

// Writes the output row with index `output` in vertical_taps, from `sources`.
void Resampler::Impl::blend(size_t output, uint8_t* to, int64_t bytes) {
  const int64_t count = vertical_taps.spans[output].size();
  const int32_t* weights =
      vertical_taps.weights.data() + static_cast<int64_t>(output) * vertical_taps.stride;
  pairs.clear();
  for (int64_t i = 0; i < count; i += 2) {
    pairs.push_back(vertical_pair(weights[i], i + 1 < count ? weights[i + 1] : 0));
  }
  if (count % 2 != 0) sources.push_back(sources.back());
  blend_rows(sources, pairs, bytes, to);
}

void Resampler::Impl::copy(const Input& input, ImageView to) {
  for (int64_t y = 0; y < to.height; ++y) {
    std::memcpy(to.row(y), input.row(y), index(to.width * 3));
  }
}

void Resampler::Impl::nearest(const Input& input, Span rows_needed, Span columns, ImageView to) {
  for (int64_t y = 0; y < to.height; ++y) {
    const uint8_t* from = input.row(vertical_taps.spans[index(y)].begin - rows_needed.begin);
    uint8_t* into = to.row(y);
    for (int64_t x = 0; x < to.width; ++x, into += 3) {
      const uint8_t* pixel = from + 3 * (horizontal_taps.spans[index(x)].begin - columns.begin);
      into[0] = pixel[0];
      into[1] = pixel[1];
      into[2] = pixel[2];
    }
  }
}

void Resampler::Impl::horizontal_only(const Input& input, ImageView to) {
  uint8_t* const row = rows.reserve(padded(table.groups * kGroup * 3));
  for (int64_t y = 0; y < to.height; ++y) {
    resample_horizontally(input, y, 1, &row);
    std::memcpy(to.row(y), row, index(to.width * 3));
  }
}

// Writes output row `output` of the vertical pass over the input, which begins at
// rows_needed.begin.
void Resampler::Impl::blend_input(const Input& input, Span rows_needed, int64_t output,
                                  uint8_t* to) {
  const Span span = vertical_taps.spans[index(output)];
  sources.clear();
  for (int64_t row = span.begin; row < span.end; ++row) {
    sources.push_back(input.row(row - rows_needed.begin));
  }
  blend(index(output), to, input.view.width * 3);
}

void Resampler::Impl::vertical_only(const Input& input, Span rows_needed, ImageView to) {
  for (int64_t y = 0; y < to.height; ++y) blend_input(input, rows_needed, y, to.row(y));
}

void Resampler::Impl::vertical_first(const Input& input, Span rows_needed, ImageView to) {
  const int64_t tall_stride = padded(std::max(input.view.width * 3, table.bytes_read));
  const int64_t stride = padded(table.groups * kGroup * 3);
  uint8_t* const tall = edge.reserve(2 * tall_stride);
  uint8_t* const made = rows.reserve(2 * stride);
  const uint8_t* const from[2] = {tall, tall + tall_stride};
  uint8_t* const into[2] = {made, made + stride};
  for (int64_t y = 0; y < to.height; y += 2) {
    const int64_t count = std::min<int64_t>(to.height - y, 2);
    for (int64_t r = 0; r < count; ++r) {
      blend_input(input, rows_needed, y + r, tall + r * tall_stride);
    }
    resample_rows(table, {from, index(count)}, {into, index(count)});
    for (int64_t r = 0; r < count; ++r) {
      std::memcpy(to.row(y + r), into[r], index(to.width * 3));
    }
  }
}

// Horizontally resampled rows are kept in a ring that fits in the cache: as many as an output row
// needs, and one more, because they are computed in pairs.
void Resampler::Impl::horizontal_first(const Input& input, Span rows_needed, ImageView to) {
  int64_t slots = 0;
  for (const Span& span : vertical_taps.spans) slots = std::max(slots, span.size());
  ++slots;
  const int64_t stride = padded(table.groups * kGroup * 3);
  uint8_t* const ring = rows.reserve(slots * stride);
  const auto slot = [&](int64_t row) { return ring + row % slots * stride; };

  int64_t made = rows_needed.begin;
  for (int64_t y = 0; y < to.height; ++y) {
    const Span span = vertical_taps.spans[index(y)];
    made = std::max(made, span.begin);
    while (made < span.end) {
      const int64_t count = std::min<int64_t>(rows_needed.end - made, 2);
      uint8_t* const into[2] = {slot(made), slot(made + 1)};
      resample_horizontally(input, made - rows_needed.begin, index(count), into);
      made += count;
    }
    sources.clear();
    for (int64_t row = span.begin; row < span.end; ++row) sources.push_back(slot(row));
    blend(index(y), to.row(y), to.width * 3);
  }
}

Resampler::Resampler() : impl_(std::make_unique<Impl>()) {}
Resampler::~Resampler() = default;
Resampler::Resampler(Resampler&&) noexcept = default;
Resampler& Resampler::operator=(Resampler&&) noexcept = default;

void Resampler::resample(ConstImageView input, Box input_box, const ResampleStep& step,
                         ImageView to) {
  const Box& window = step.window;
  const Box part = shown(step);
  const bool all = part == window;
  const bool constant = step.border.mode == PaddingMode::kConstant;
  if (!all && constant) fill(to, step.border.fill);
  if (part.height == 0) return;
  if (window.contains(part)) {
    const ImageView inner =
        to.crop({part.top - window.top, part.left - window.left, part.height, part.width});
    impl_->make(input, input_box, step, part, inner);
    if (!all && !constant) extend(inner, part, step, to);
  } else {
    const ImageView inner{impl_->beside.reserve(part.height * part.width * 3), part.height,
                          part.width, 3, part.width * 3};
    impl_->make(input, input_box, step, part, inner);
    extend(inner, part, step, to);
  }
}

// Writes the pixels of `part` of the scaled image.
void Resampler::Impl::make(ConstImageView input, Box input_box, const ResampleStep& step, Box part,
                           ImageView to) {
  const Span outputs_y{part.top, part.bottom()};
  const Span outputs_x{part.left, part.right()};
  const Axis vertical = vertical_axis(step);
  const Axis horizontal = horizontal_axis(step);
  const Span rows_needed = footprint(vertical, outputs_y);
  const Span columns = footprint(horizontal, outputs_x);
  const Input needed{input.crop({step.box.top + rows_needed.begin - input_box.top,
                                 step.box.left + columns.begin - input_box.left, rows_needed.size(),
                                 columns.size()})};
  if (step.copies()) return copy(needed, to);
  const bool is_nearest = takes_nearest(step.interpolation);
  if (is_nearest || !horizontal.copies()) compute_taps(horizontal, outputs_x, horizontal_taps);
  if (is_nearest || !vertical.copies()) compute_taps(vertical, outputs_y, vertical_taps);
  if (is_nearest) return nearest(needed, rows_needed, columns, to);
  if (!horizontal.copies()) build(horizontal_taps, columns.begin, table);
  if (vertical.copies()) return horizontal_only(needed, to);
  if (horizontal.copies()) return vertical_only(needed, rows_needed, to);
  if (vertical_comes_first(step)) return vertical_first(needed, rows_needed, to);
  horizontal_first(needed, rows_needed, to);
}

}  // namespace fuelrail
