// The two inner loops of resampling, and their tables. Private to the module.
//
// A weight w of 22 bits is too long for 16-bit multiplications. So w is split into 256 high + low
// with 0 <= low < 256, and the products of each part are summed separately. This is exact, so the
// results are bit-identical on every target.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fuelrail/transform/taps.h"

namespace fuelrail {

// A vector load reads 16 bytes for 4 pixels, and outputs are computed in groups of 4.
inline constexpr int64_t kGroup = 4;
inline constexpr int64_t kRowPaddingBytes = 64;

// Weights of the horizontal pass. For each group of 4 outputs and each pair of taps there are 4
// blocks of high parts, one for each output, and 4 blocks of low parts. A block holds its output's
// (weight, next weight) 4 times.
struct HorizontalTable {
  static constexpr int64_t kBlock = 8;                          // int16 per block
  static constexpr int64_t kPairOfGroup = 2 * kGroup * kBlock;  // int16 per group and pair
  std::vector<int32_t> offsets;  // byte offset of each output's first tap
  std::vector<int16_t> weights;
  int64_t groups = 0;
  int64_t pairs = 0;
  int64_t bytes_read = 0;  // number of bytes read from the start of a row
};

// Fills `table` for rows that begin at input pixel `first`.
void build(const Taps& taps, int64_t first, HorizontalTable& table);

// One output row's weights of two adjacent input rows, as (weight, next weight): the high and the
// low parts.
struct VerticalPair {
  int16_t high[2];
  int16_t low[2];
};

VerticalPair vertical_pair(int32_t first, int32_t second);

// Resamples rows.size() rows (1 or 2), and writes table.groups * 4 pixels for each. Requires:
// table.bytes_read readable bytes at each row; table.groups * 12 + 16 writable bytes at each
// output.
void resample_rows(const HorizontalTable& table, std::span<const uint8_t* const> rows,
                   std::span<uint8_t* const> to);

// Writes `bytes` bytes to `to`. Each is computed from the bytes at the same position in 2 *
// weights.size() rows.
void blend_rows(std::span<const uint8_t* const> rows, std::span<const VerticalPair> weights,
                int64_t bytes, uint8_t* to);

}  // namespace fuelrail
