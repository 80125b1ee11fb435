// Reads a RecordIO file from front to back; with recovery, past damage.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/storage/source.h"

namespace fuelrail::recordio {

struct Record {
  uint64_t offset = 0;  // of its head
  uint64_t framed_bytes = 0;
  Bytes payload;  // valid until the next call
};

struct Damage {
  std::string path;
  uint64_t offset = 0;         // where reading stopped making sense
  uint64_t skipped_bytes = 0;  // up to the next record head, or the file's end
  std::string reason;
};

struct RecordReaderOptions {
  // Given: damage is reported here and passed over, to the next aligned magic that begins a record.
  // Absent: damage is an error.
  std::function<void(const Damage&)> recover{};
};

// Threads: one at a time. Reads ahead in large blocks.
class RecordReader {
 public:
  explicit RecordReader(std::shared_ptr<const Source> source, RecordReaderOptions options = {});
  ~RecordReader();
  RecordReader(const RecordReader&) = delete;
  RecordReader& operator=(const RecordReader&) = delete;

  // Empty at a clean end. Errors: TruncatedError, CorruptError, with path and offset; IoError.
  std::optional<Record> next();

  // Goes on at the record whose head is at `offset`.
  void seek(uint64_t offset);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fuelrail::recordio
