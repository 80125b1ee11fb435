// Entry points: at which bit of a scan MCUs begin, and with which predictors, so that a box can be
// decoded without what is above and beside it. They are the hints of JPEGs (EncodedImage::hints);
// the format is described in docs/formats/frx.md, and known here alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/decode/jpeg/baseline_header.h"
#include "fuelrail/decode/jpeg/mcu_rows.h"

namespace fuelrail::jpeg {

struct EntryPoint {
  int64_t bit = 0;  // of the scan's data as they are stored, with stuffing
  Predictors predictors{};
};

// The entry points of one image. A view: the hints must outlive it.
class EntryPoints {
 public:
  // Empty if the hints are not of this image, or damaged. `header`: of `encoded`.
  static std::optional<EntryPoints> read(Bytes hints, const BaselineHeader& header, Bytes encoded);

  // MCUs from an entry point to the next one in the same row; the last one of a row has fewer.
  int64_t spacing() const { return spacing_; }
  int64_t entries_of_row() const { return entries_of_row_; }
  int64_t count() const { return count_; }
  int64_t end_bit() const { return end_bit_; }  // behind the last MCU

  // Entry point number `i`, in raster order. Requires: i < count(). Empty if its bit is behind
  // end_bit(). Otherwise what it says may still be wrong.
  std::optional<EntryPoint> at(int64_t i) const;

 private:
  uint32_t bits_at(int64_t bit, int count) const;

  Bytes packed_;
  int offset_bits_ = 0;
  std::array<int, kMaxComponents> predictor_bits_{};
  std::array<int, kMaxComponents> least_{};
  int64_t spacing_ = 0;
  int64_t entries_of_row_ = 0;
  int64_t count_ = 0;
  int64_t end_bit_ = 0;
};

// Makes the entry points of a whole image. Empty if it is not one for BaselineDecoder, if anything
// in it is odd, if it has restart markers, or if it is too small for them to save anything.
std::vector<std::byte> make_entry_points(Bytes encoded);

}  // namespace fuelrail::jpeg
