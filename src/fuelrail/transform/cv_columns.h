// The layout of rows between the two passes of OpenCV's resizing, and the tables of the first pass.
// Private to the module.
//
// Between the passes, a colour pixel has kCvLanes values, of which RGB leaves the fourth unused. A
// grey pixel has one value.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace fuelrail {

inline constexpr int64_t kCvLanes = 4;
inline constexpr int64_t kCvGroup = 16;  // outputs are computed in groups
inline constexpr int64_t cv_lanes(int64_t channels) { return channels == 1 ? 1 : kCvLanes; }
inline int64_t cv_groups(int64_t pixels) { return (pixels + kCvGroup - 1) / kCvGroup; }
// The number of values in a row between the passes, and of bytes in a row after the second pass,
// with room for whole vectors.
inline int64_t cv_row_values(int64_t pixels, int64_t channels) {
  return cv_groups(pixels) * kCvGroup * cv_lanes(channels) + 64;
}

// Weights of the first pass, ordered by group of kCvGroup outputs, then by kTogether consecutive
// taps, then by output. Each output has one block for these taps, which contains their kTogether
// weights: once for grey, repeated kCvLanes times for colours.
template <typename Weight, int64_t kTogether>
struct CvColumnTable {
  int64_t block() const { return kTogether * cv_lanes(channels); }
  int64_t step() const { return kCvGroup * block(); }  // from kTogether taps of a group to the next
  int64_t first_weight(int64_t output) const {
    return output / kCvGroup * (taps / kTogether) * step() + output % kCvGroup * block();
  }

  int64_t channels = 3;
  int64_t width = 0;  // number of outputs
  int64_t taps = 0;
  std::vector<int32_t> offsets;  // byte offset of each output's first tap
  std::vector<Weight> weights;
  int64_t bytes_read = 0;  // number of bytes read from the start of a row
};

using CvColumns = CvColumnTable<int16_t, 2>;    // for folded CvTaps
using CvAreaColumns = CvColumnTable<float, 1>;  // for CvAreaTaps

// Fills `columns` for rows that begin at input pixel `first`. Requires: the number of taps is a
// multiple of kTogether; at least one output.
template <typename Taps, typename Weight, int64_t kTogether>
void build(const Taps& taps, int64_t first, int64_t channels,
           CvColumnTable<Weight, kTogether>& columns) {
  columns.channels = channels;
  columns.width = static_cast<int64_t>(taps.first.size());
  columns.taps = taps.taps;
  const int64_t padded = cv_groups(columns.width) * kCvGroup;
  const int64_t block = columns.block();
  columns.offsets.resize(static_cast<size_t>(padded));
  columns.weights.resize(static_cast<size_t>(padded * (taps.taps / kTogether) * block));
  for (int64_t x = 0; x < padded; ++x) {
    const int64_t known = std::min(x, columns.width - 1);  // the last group repeats the last output
    columns.offsets[static_cast<size_t>(x)] =
        static_cast<int32_t>((taps.first[static_cast<size_t>(known)] - first) * channels);
    const Weight* from = taps.weights.data() + known * taps.taps;
    Weight* to = columns.weights.data() + columns.first_weight(x);
    for (int64_t k = 0; k < taps.taps; k += kTogether, from += kTogether, to += columns.step()) {
      for (int64_t i = 0; i < block; i += kTogether) {
        std::memcpy(to + i, from, kTogether * sizeof(Weight));
      }
    }
  }
  // A load reads 16 bytes for up to 4 taps; for grey, 4 bytes.
  columns.bytes_read = columns.offsets.back() + (taps.taps - 1) / 4 * 4 * channels + 16;
}

}  // namespace fuelrail
