// The inverse DCT of JPEG blocks, with the samples of libjpeg-turbo's default (JDCT_ISLOW), bit for
// bit: the algorithm of Loeffler, Ligtenberg and Moschytz (ICASSP 1989) with 13-bit constants.
#pragma once

#include <array>
#include <cstdint>

#include "fuelrail/decode/jpeg/baseline_header.h"

namespace fuelrail::jpeg {

// The quantisers of a component, row by row.
using QuantizerRows = std::array<int16_t, kBlockCoefficients>;
QuantizerRows rows_of(const Quantizers& quantizers);

// A row of blocks of one component, in the memory of its MCUs.
struct BlockRow {
  const int16_t* first = nullptr;  // 64 coefficients in zig-zag order, of which the first is the DC
  int64_t mcu_step = 0;            // from an MCU to the next, in coefficients
  int blocks_of_mcu = 1;           // 1 or 2, one after the other
  int64_t count = 0;               // of blocks
};

// Writes 8 rows of 8 * row.count samples, and at most kSlackSamples behind each of them. Returns:
// false if the coefficients may be too large for the sums of 16 bits in libjpeg-turbo's vector
// code, where each kind of processor has samples of its own. No image has such coefficients before
// quantisation.
inline constexpr int64_t kSlackSamples = 24;
[[nodiscard]] bool inverse_dct(const BlockRow& row, const QuantizerRows& quantizers, uint8_t* to,
                               int64_t row_bytes);

}  // namespace fuelrail::jpeg
