// The hints of a file's images (EncodedImage::hints) in an opened sidecar: section JENT of
// docs/formats/frx.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/sidecar/sidecar_section.h"

namespace fuelrail {

// The longest hints of one record that are written and read. Those of the largest JPEG with an
// entry for each 512 pixels of each row of its blocks are shorter.
inline constexpr uint64_t kMaxHintsBytes = uint64_t{16} << 20;

// Sections of up to this size are read and checked when the sidecar is opened.
inline constexpr uint64_t kMaxWholeHintsBytes = uint64_t{64} << 20;

// Threads: any number at once.
class HintsTable {
 public:
  // `uri`: of the sidecar, for errors. Up to kMaxWholeHintsBytes, checks all blocks and offsets;
  // those of larger sections are checked when they are used. Lifetime: `section` outlives the
  // table. Errors: CorruptError.
  HintsTable(const SidecarSection& section, uint64_t records, const std::string& uri);

  // As the methods of Sidecar.
  Bytes hints(uint64_t i, uint32_t payload_crc, std::vector<std::byte>& storage) const;
  uint64_t hinted_records() const;

  // An error of reading a sidecar with the remedy for hints: unlike a new sidecar, `fuelrail index`
  // keeps class names and keys.
  static CorruptError with_remedy(const CorruptError& error);

 private:
  void check_range(uint64_t i, uint64_t begin, uint64_t end) const;
  // Calls `take(i, begin, end)` with the offsets of each record's hints, in order.
  template <typename Take>
  void for_each_range(const Take& take) const;

  const SidecarSection& section_;
  uint64_t records_;
  std::string uri_;
};

}  // namespace fuelrail
