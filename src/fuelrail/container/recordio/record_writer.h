// Writes RecordIO files: framed records, one after the other.
#pragma once

#include <cstdint>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/storage/sink.h"

namespace fuelrail::recordio {

// Threads: one at a time. The file gets its final name when the sink's owner commits the sink.
// Memory: the longest payload up to 1 MiB; longer payloads are written without a copy.
class RecordWriter {
 public:
  // Requires: sink.position() is a multiple of 4. Lifetime: the sink outlives the writer.
  explicit RecordWriter(Sink& sink) : sink_(sink) {}

  // Returns: the byte offset of the record's head. Errors: InvalidArgumentError if the payload is
  // too long, before anything is written; those of the sink.
  uint64_t append(Bytes payload);

  // The number of magics that were escaped in payloads so far.
  uint64_t escapes() const { return escapes_; }

 private:
  void append_uncopied(Bytes payload);

  Sink& sink_;
  std::vector<std::byte> framed_;
  uint64_t escapes_ = 0;
};

// Commits a finished file and then its index, if it has one. Removes the index and the sidecar of
// an earlier file with this name, because their keys and class names belong to the earlier file. If
// a commit fails, or the process is killed between the two commits, the file has no X.idx rather
// than a wrong one; the old index is then named X.idx.old.partial. Errors: those of Sink::commit
// and FileSystem.
void commit_record_file(Sink& records, Sink* index);

}  // namespace fuelrail::recordio
