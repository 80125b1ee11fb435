// Undoes the filters of a PNG's rows (PNG, third edition, section 9).
#pragma once

#include <cstdint>

namespace fuelrail::png {

// The byte before each filtered row.
enum Filter : uint8_t { kNone, kSub, kUp, kAverage, kPaeth };
inline constexpr uint8_t kFilters = 5;
// Bytes that may be read behind a filtered row and the row above it, and written behind a row.
inline constexpr int64_t kRowSlack = 64;

// A filtered row, the row above it (unfiltered; zeros above the first one), and where the row goes.
// They do not overlap.
struct FilteredRow {
  const uint8_t* filtered = nullptr;
  const uint8_t* above = nullptr;
  uint8_t* to = nullptr;
  int64_t bytes = 0;  // that are wanted
};

// Requires: filter < kFilters; bytes_per_pixel is 1, 2, 3, 4, 6 or 8; kRowSlack.
void unfilter(uint8_t filter, int bytes_per_pixel, const FilteredRow& row);

// Undoes Paeth in two rows at once, the second of which is below the first: in less time than one
// after the other, because each pixel waits for the one before. Requires: as above;
// second.above == first.to; equal lengths.
void unfilter_paeth_rows(int bytes_per_pixel, const FilteredRow& first, const FilteredRow& second);

}  // namespace fuelrail::png
