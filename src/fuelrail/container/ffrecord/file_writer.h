// Writes FFRecord files, byte for byte as the original does (docs/formats/ffrecord.md).
#pragma once

#include <cstdint>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/storage/sink.h"

namespace fuelrail::ffrecord {

// The table stands before the records and is known after them. Room for it is left at the beginning
// and filled at the end (Sink::rewrite). Where the number of records is not known before, or
// another number comes, `finish` moves what was written to where it belongs: that reads and writes
// it once more.
//
// A call that fails half-way leaves a file that would not be what was given: from then on every
// method throws a StateError. So does `append` between `begin_record` and `end_record`, which
// changes nothing.
//
// Threads: one at a time. Nothing has its final name before the sink is committed by its owner.
// Memory: 12 bytes a record expected or written, and up to 1 MiB.
class FileWriter {
 public:
  // `expected`: how many records will come, as far as it is known; 0 = unknown. Requires: the sink
  // is empty. Lifetime: the sink outlives the writer. Errors: InvalidArgumentError for more records
  // than a file can have; bad_alloc; the sink's.
  FileWriter(Sink& sink, uint64_t expected);

  // Goes on with a file of `expected` records that another writer has begun and not finished: what
  // is in it is made known by `adopt`, record by record, before anything is appended. Requires: the
  // sink holds at least table_bytes(expected) (record_table.h).
  struct AsLeft {};
  FileWriter(Sink& sink, uint64_t expected, AsLeft);
  // The next record has this length and this checksum. Requires: it is all in the sink.
  void adopt(uint64_t length, uint32_t crc);

  // Returns: the index of the record. Errors: the sink's.
  uint64_t append(Bytes record);
  // The same, of a record whose checksum is known.
  uint64_t append(Bytes record, uint32_t crc);

  // A record in pieces, for one that does not fit in memory: it begins with `begin_record` and ends
  // with `end_record`. Errors: StateError in another order; the sink's.
  void begin_record();
  void add(Bytes piece);
  uint64_t end_record();

  // Writes the table. Nothing can be appended after it. Errors: the sink's.
  void finish();

  uint64_t records() const { return crcs_.size(); }

 private:
  class Step;
  void reserve(uint64_t expected);
  void move_records(uint64_t to);
  void write_table();

  Sink& sink_;
  uint64_t first_ = 0;    // where the first record is
  uint64_t adopted_ = 0;  // where the next one that is adopted is
  std::vector<uint32_t> crcs_;
  std::vector<uint64_t> offsets_;
  uint32_t open_crc_ = 0;  // of the record that `add` adds to, so far
  enum class State { kBetween, kInRecord, kFailed, kFinished } state_ = State::kBetween;
};

// Commits the sink of a finished file that gets no sidecar. One that is there from the file that
// had the name before goes: its class names and keys are not this file's. Errors: those of
// Sink::commit.
void commit_without_sidecar(Sink& sink);

}  // namespace fuelrail::ffrecord
