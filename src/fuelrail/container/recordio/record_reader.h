// Reads a RecordIO file from front to back; can continue after damage.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/container/damage.h"
#include "fuelrail/storage/block_reader.h"
#include "fuelrail/storage/source.h"

namespace fuelrail::recordio {

struct Record {
  uint64_t offset = 0;  // of its head
  uint64_t framed_bytes = 0;
  Bytes payload;  // valid until the next call
};

struct RecordReaderOptions {
  // If given, damage is reported here and skipped up to the next aligned magic that begins a
  // record. Writers escape this magic inside a payload, so finding one inside a record counts as
  // damage too. A record with a wrong length is therefore lost alone, without the records after it.
  // If empty, damage is an error.
  std::function<void(const Damage&)> recover{};

  // The size of one read; affects only the speed. Use a smaller value for reading single records
  // with `seek`.
  uint64_t block_bytes = uint64_t{4} << 20;
};

// A record's size, as found from the heads of its parts.
struct RecordShape {
  uint64_t framed_bytes = 0;
  uint64_t parts = 0;
};

// Reads only the heads of the record at `offset`. Requires: offset is below the source's size.
// Errors: TruncatedError, CorruptError, with the offset; those of the source.
RecordShape measure_record(BlockReader& reader, uint64_t offset);

// The first offset at or after `from` where a record begins, or the file's size. A record begins at
// an aligned magic with the head of a whole record or of a first part; a writer escapes the same
// bytes inside a payload. Reads `block_bytes` at a time. Errors: those of the source.
uint64_t find_record_head(BlockReader& reader, uint64_t from, uint64_t block_bytes);

// Reads ahead in large blocks. Threads: one at a time. Memory: one block, or the longest record.
class RecordReader {
 public:
  explicit RecordReader(std::shared_ptr<const Source> source, RecordReaderOptions options = {});
  RecordReader& operator=(RecordReader&&) = delete;

  // Returns an empty optional at the end of the file, however often it is called. Errors: IoError;
  // TruncatedError and CorruptError, with path and offset, which every further call repeats until
  // `seek` is called.
  std::optional<Record> next();

  // Continues at the record whose head is at `offset`. Errors: OutOfRangeError past the file's end.
  void seek(uint64_t offset);

  // The offset of the next record, or the file's size.
  uint64_t position() const { return offset_; }

 private:
  Record read_record();
  void refuse_hidden_head(uint64_t framed_bytes);

  std::shared_ptr<const Source> source_;
  RecordReaderOptions options_;
  BlockReader reader_;
  std::vector<std::byte> assembled_;
  uint64_t offset_ = 0;
};

}  // namespace fuelrail::recordio
