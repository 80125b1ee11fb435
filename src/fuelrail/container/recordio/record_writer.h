// Writes RecordIO files: framed records one after the other.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/storage/sink.h"

namespace fuelrail::recordio {

// Threads: one at a time. Nothing has its final name before the sink is committed by its owner.
class RecordWriter {
 public:
  explicit RecordWriter(Sink& sink) : sink_(sink) {}

  // Returns the byte offset of the record's head. Errors: InvalidArgumentError (too long), the
  // sink's.
  uint64_t append(Bytes payload);

 private:
  Sink& sink_;
  std::vector<std::byte> framed_;
};

}  // namespace fuelrail::recordio
