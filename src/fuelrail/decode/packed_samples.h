// Samples of less than a byte, as PNG, BMP and TIFF pack them.
#pragma once

#include <cstdint>

namespace fuelrail {

// Sample i of a row of samples with `bits` bits; the first is in the highest bits. Requires: `bits`
// is 1, 2, 4 or 8.
inline uint8_t packed_sample(const uint8_t* row, int64_t i, int bits) {
  const int64_t bit = i * bits;
  const int shift = 8 - bits - static_cast<int>(bit % 8);
  return static_cast<uint8_t>(row[bit / 8] >> shift & ((1 << bits) - 1));
}

// The factor that turns grey of `bits` bits into a value (ValueEncoding::kStored): 255 divided by
// the largest sample, but 1 for one bit. Requires: as above.
inline int grey_value_factor(int bits) { return bits == 1 ? 1 : 255 / ((1 << bits) - 1); }

}  // namespace fuelrail
