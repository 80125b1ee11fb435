#include "fuelrail/decode/jpeg/mcu_rows.h"

#include <algorithm>
#include <cstring>

#include "fuelrail/decode/jpeg/ycc_rows.h"

namespace fuelrail::jpeg {
namespace {

// Before and behind each row of samples: its neighbour at the picture's edge, and what vectors read
// and write beyond it.
constexpr int64_t kPadding = std::max(kSlackSamples, kRowSlack);

struct Range {
  int64_t begin = 0;
  int64_t end = 0;
};

// The MCUs that hold luma samples [begin, end) of a row or a column, and the chroma samples that
// they are interpolated from: one more on each side, if chroma has half of the samples. `factor`: 2
// if it has.
Range mcus_of(int64_t begin, int64_t end, int factor, bool with_chroma, int64_t mcus) {
  const int64_t side = kBlockSide * factor;
  if (factor == 1 || !with_chroma) return {begin / side, (end - 1) / side + 1};
  return {std::max<int64_t>(0, begin / 2 - 1) / kBlockSide,
          std::min(mcus, ((end - 1) / 2 + 1) / kBlockSide + 1)};
}

}  // namespace

bool sum_differences(const BaselineHeader& header, int64_t count, int16_t* coefficients,
                     Predictors& predictors) {
  uint32_t beyond = 0;
  for (int64_t i = 0; i < count; ++i) {
    for (int k = 0; k < header.blocks_of_mcu; ++k, coefficients += kBlockCoefficients) {
      int& predictor = predictors[header.component_of_block[static_cast<size_t>(k)]];
      predictor += *coefficients;
      *coefficients = static_cast<int16_t>(predictor);
      beyond |= static_cast<uint32_t>(predictor + 0x8000);
    }
  }
  return beyond < 0x10000;
}

void McuRows::begin(const BaselineHeader& header, const Box& box, ImageView output) {
  header_ = &header;
  box_ = box;
  output_ = output;
  next_row_ = box.top;
  planes_ = output.channels == 1 ? 1 : header.components;
  const bool chroma = planes_ > 1;
  const Range columns = mcus_of(box.left, box.right(), header.h(), chroma, header.mcus.width);
  const Range rows = mcus_of(box.top, box.bottom(), header.v(), chroma, header.mcus.height);
  window_ = {columns.begin, columns.end, rows.begin, rows.end};

  const int64_t width = (window_.right - window_.left) * kBlockSide;
  const int64_t enlarged_bytes = width * header.h() + kPadding;
  const int64_t sums_bytes = (width + 2 * kPadding) * static_cast<int64_t>(sizeof(int16_t));
  int64_t bytes = 2 * enlarged_bytes + sums_bytes;
  for (int i = 0; i < planes_; ++i) {
    const Component& component = header.component[static_cast<size_t>(i)];
    Plane& plane = plane_[static_cast<size_t>(i)];
    plane.row_bytes = width * component.h + 2 * kPadding;
    plane.rows = static_cast<int>(kBlockSide) * component.v;
    plane.quantizers = rows_of(header.quantizers[static_cast<size_t>(component.quantizers)]);
    bytes += 2 * plane.rows * plane.row_bytes;
  }
  uint8_t* memory = memory_.take(static_cast<size_t>(bytes));
  sums_ = reinterpret_cast<int16_t*>(memory) + kPadding;  // aligned, because it comes first
  memory += sums_bytes;
  for (size_t i = 1; i < kMaxComponents; ++i, memory += enlarged_bytes) enlarged_[i] = memory;
  for (size_t i = 0; i < static_cast<size_t>(planes_); ++i) {
    plane_[i].samples = memory + kPadding;
    memory += 2 * plane_[i].rows * plane_[i].row_bytes;
  }
}

bool McuRows::take(int64_t first, int64_t count, int16_t* coefficients, Predictors& predictors) {
  if (!sum_differences(*header_, count, coefficients, predictors)) return false;
  const int64_t step = int64_t{kBlockCoefficients} * header_->blocks_of_mcu;
  while (count > 0) {
    const int64_t row = first / header_->mcus.width;
    const int64_t column = first % header_->mcus.width;
    const int64_t end = std::min(header_->mcus.width, column + count);
    if (row >= window_.top && row < window_.bottom) {
      const int64_t left = std::max(column, window_.left);
      const int64_t right = std::min(end, window_.right);
      if (left < right && !make_samples(row, left, right, coefficients + (left - column) * step)) {
        return false;
      }
      if (column < window_.right && end >= window_.right) {
        extend_edges(row);
        // The last row of luma also needs chroma of the next MCUs.
        const bool waits = planes_ > 1 && header_->v() == 2 && row + 1 < window_.bottom;
        write_rows((row + 1) * plane_[0].rows - (waits ? 1 : 0));
      }
    }
    coefficients += (end - column) * step;
    first += end - column;
    count -= end - column;
  }
  return true;
}

bool McuRows::make_samples(int64_t row, int64_t left, int64_t right, const int16_t* first_mcu) {
  bool fits = true;
  const int64_t step = int64_t{kBlockCoefficients} * header_->blocks_of_mcu;
  for (size_t i = 0; i < static_cast<size_t>(planes_); ++i) {
    const Component& component = header_->component[i];
    const Plane& plane = plane_[i];
    uint8_t* to = plane.samples + (left - window_.left) * kBlockSide * component.h +
                  (row - window_.top) % 2 * plane.rows * plane.row_bytes;
    for (int v = 0; v < component.v; ++v) {
      fits &= inverse_dct({.first = first_mcu,
                           .mcu_step = step,
                           .blocks_of_mcu = component.h,
                           .count = (right - left) * component.h},
                          plane.quantizers, to, plane.row_bytes);
      first_mcu += kBlockCoefficients * component.h;
      to += kBlockSide * plane.row_bytes;
    }
  }
  return fits;
}

// Repeats chroma samples at the picture's left and right edge.
void McuRows::extend_edges(int64_t row) {
  if (header_->h() == 1) return;
  const int64_t columns = ceil_div(header_->size.width, 2) - window_.left * kBlockSide;
  for (size_t i = 1; i < static_cast<size_t>(planes_); ++i) {
    for (int64_t y = 0; y < kBlockSide; ++y) {
      uint8_t* const samples =
          plane_[i].samples + ((row - window_.top) % 2 * kBlockSide + y) * plane_[i].row_bytes;
      if (window_.left == 0) samples[-1] = samples[0];
      if (window_.right == header_->mcus.width) samples[columns] = samples[columns - 1];
    }
  }
}

void McuRows::write_rows(int64_t end) {
  end = std::min(end, box_.bottom());
  for (; next_row_ < end; ++next_row_) write_row(next_row_);
}

// Row `row` of the whole component.
const uint8_t* McuRows::samples_of(size_t component, int64_t row) const {
  const Plane& plane = plane_[component];
  return plane.samples + (row - window_.top * plane.rows) % (2 * plane.rows) * plane.row_bytes;
}

void McuRows::write_row(int64_t y) {
  uint8_t* const to = output_.row(y - box_.top);
  const uint8_t* const luma =
      samples_of(0, y) + box_.left - window_.left * kBlockSide * header_->h();
  if (output_.channels == 1) {
    std::memcpy(to, luma, static_cast<size_t>(box_.width));
  } else if (planes_ == 1) {
    grey_to_rgb(luma, box_.width, to);
  } else {
    ycc_to_rgb(luma, enlarged_chroma(1, y), enlarged_chroma(2, y), box_.width, to);
  }
}

// Chroma of the box's columns in row `y` of luma.
const uint8_t* McuRows::enlarged_chroma(size_t component, int64_t y) {
  const int h = header_->h();
  const int v = header_->v();
  const int64_t left = box_.left / h;
  const int64_t count = (box_.right() - 1) / h + 1 - left;
  const int64_t rows = ceil_div(header_->size.height, v);
  const auto row = [&](int64_t i) {
    return samples_of(component, std::clamp<int64_t>(i, 0, rows - 1)) + left -
           window_.left * kBlockSide;
  };
  const uint8_t* const current = row(y / v);
  if (h == 1 && v == 1) return current;
  const bool is_lower = y % 2 != 0;
  uint8_t* const to = enlarged_[component];
  const uint8_t* const near = v == 1 ? nullptr : row(is_lower ? y / 2 + 1 : y / 2 - 1);
  if (h == 1) {
    enlarge_column(current, near, count, is_lower, to);
    return to;
  }
  if (v == 1) {
    widen_row(current, count, sums_);
  } else {
    sum_rows(current, near, count, sums_);
  }
  enlarge_row(sums_, count, v, to);
  return to + box_.left % 2;
}

}  // namespace fuelrail::jpeg
