// Rows of chroma in the size of luma, and rows of RGB, with the samples of libjpeg-turbo's defaults
// ("fancy" upsampling), bit for bit.
#pragma once

#include <cstdint>

namespace fuelrail::jpeg {

// How chroma rows are enlarged. `h`, `v`: 1, or 2 for half of the columns or rows.
//
// Of two rows, `current` is the one in which an output row lies and `near` the other one that it
// borders on; at the picture's edge both are the same. Each output sample weights the sample in
// which it lies with 3 and its neighbour with 1.

// `row`[i] = 3 * current[i] + near[i], for i from -1 to count. Readable: from -1 to count of both.
void sum_rows(const uint8_t* current, const uint8_t* near, int64_t count, int16_t* sums);
// sums[i] = row[i], for i from -1 to count.
void widen_row(const uint8_t* row, int64_t count, int16_t* sums);

// Makes 2 * count samples of sums[-1] to sums[count]. `v`: 1 if the sums are samples, 2 if they are
// those of `sum_rows`. Writes up to kRowSlack samples more.
void enlarge_row(const int16_t* sums, int64_t count, int v, uint8_t* to);
// Makes `count` samples of rows in which only rows are halved. `is_lower`: whether the output row
// is the lower one of the two that lie in `current`. Writes up to kRowSlack samples more.
void enlarge_column(const uint8_t* current, const uint8_t* near, int64_t count, bool is_lower,
                    uint8_t* to);

// Converts YCbCr of ITU-R BT.601 (JFIF 1.02) to interleaved RGB. Writes `count` pixels. Readable:
// up to kRowSlack samples more of each row.
void ycc_to_rgb(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, int64_t count, uint8_t* to);

inline constexpr int64_t kRowSlack = 64;

// Repeats each of `count` samples three times. Readable: as above.
void grey_to_rgb(const uint8_t* grey, int64_t count, uint8_t* to);

}  // namespace fuelrail::jpeg
