// Long records, read piece by piece: memory stays small, and an interrupt is
// heard between two pieces. For `ls`, `cat` and `verify`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/container/container.h"
#include "fuelrail/container/record_file.h"

namespace fuelrail::cli {

inline constexpr uint64_t kPieceBytes = uint64_t{16} << 20;

class PieceReader {
 public:
  // Lifetime: the container outlives the reader.
  explicit PieceReader(const Container& container);

  // Whether record i is too long to be read at once: among raw bytes one of more than 32 MiB; among
  // images one of 512 MiB, as no image has so many. Only some formats have such. Requires: i <
  // container.size(). Errors: those of Container::extent.
  bool is_long(uint64_t i) const;

  // The first 64 KiB of a long record. Lifetime: until the next call. Errors: the source's.
  Bytes head(uint64_t i);

  // Gives all of a long record to `take`, and then looks whether its checksum was right. Errors:
  // the source's, CorruptError; both with the place; Interrupted; what `take` throws.
  void read(uint64_t i, const std::function<void(Bytes piece)>& take);

 private:
  const RecordFile* file_of(uint64_t i) const;

  const Container& container_;
  std::vector<const RecordFile*> files_;  // that have long records
  uint64_t longest_;                      // that is read at once
  std::vector<std::byte> piece_;
};

}  // namespace fuelrail::cli
