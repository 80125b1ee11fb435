// Reads one record of any length in pieces.
#pragma once

#include <cstdint>

#include "fuelrail/base/bytes.h"
#include "fuelrail/container/ffrecord/record_table.h"
#include "fuelrail/storage/source.h"

namespace fuelrail::ffrecord {

// Threads: one at a time.
class RecordPieces {
 public:
  // Requires: i < table.size(). Lifetime: `source` and `table` outlive this object.
  RecordPieces(const Source& source, const RecordTable& table, uint64_t i)
      : source_(source), table_(table), record_(i) {}

  // Reads the next piece of the record into `buffer`. Fills the buffer unless the record ends. A
  // hole in the file is read as zeros. Returns: the bytes read; empty at the end of the record, if
  // its checksum is right. Requires: the buffer is not empty. Errors, with the place: those of the
  // source; CorruptError for a wrong checksum.
  Bytes next(MutableBytes buffer);

 private:
  const Source& source_;
  const RecordTable& table_;
  const uint64_t record_;
  uint64_t done_ = 0;  // bytes
  uint32_t crc_ = 0;   // of these bytes
};

}  // namespace fuelrail::ffrecord
