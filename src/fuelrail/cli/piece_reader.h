// Reads long records piece by piece, to save memory and to check for an interrupt between pieces.
// For `ls`, `cat` and `verify`.
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

  // Whether record i is too long to be read at once: more than 32 MiB for opaque bytes, more than
  // 512 MiB for images. Only some formats have long records. Requires: i < container.size().
  // Errors: those of Container::extent.
  bool is_long(uint64_t i) const;

  // The first 64 KiB of a long record. Lifetime: valid until the next call. Errors: the source's.
  Bytes head(uint64_t i);

  // Passes a whole long record to `take`, piece by piece, and then verifies its checksum. Errors:
  // the source's and CorruptError, both with the record's place; Interrupted; those that `take`
  // throws.
  void read(uint64_t i, const std::function<void(Bytes piece)>& take);

 private:
  const RecordFile* file_of(uint64_t i) const;

  const Container& container_;
  std::vector<const RecordFile*> files_;  // the files that have long records
  uint64_t longest_;                      // records of more bytes are read in pieces
  std::vector<std::byte> piece_;
};

}  // namespace fuelrail::cli
