// Writes RecordIO files: framed records one after the other.
#pragma once

#include <cstdint>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/storage/sink.h"

namespace fuelrail::recordio {

// Threads: one at a time. Nothing has its final name before the sink is committed by its owner.
// Memory: that of the longest payload below 1 MiB; longer ones are written without a copy.
class RecordWriter {
 public:
  // Requires: sink.position() is a multiple of 4. Lifetime: the sink outlives the writer.
  explicit RecordWriter(Sink& sink) : sink_(sink) {}

  // Returns the byte offset of the record's head. Errors: InvalidArgumentError (too long; nothing
  // has been written then), the sink's.
  uint64_t append(Bytes payload);

  // Embedded magics that were escaped so far.
  uint64_t escapes() const { return escapes_; }

 private:
  void append_uncopied(Bytes payload);

  Sink& sink_;
  std::vector<std::byte> framed_;
  uint64_t escapes_ = 0;
};

// Gives a finished file and, where there is one, its index their names, the file first. The index
// and the sidecar of a file that had the name before go: their keys and class names are not this
// file's. Where a commit fails, or a kill comes between the two, there is no X.idx, so never
// another file's; the old one is X.idx.old.partial then. Errors: those of Sink::commit and
// FileSystem.
void commit_record_file(Sink& records, Sink* index);

}  // namespace fuelrail::recordio
