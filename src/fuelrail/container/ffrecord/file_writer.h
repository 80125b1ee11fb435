// Writes FFRecord files, byte for byte as the original package writes them
// (docs/formats/ffrecord.md).
#pragma once

#include <cstdint>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/storage/sink.h"

namespace fuelrail::ffrecord {

// The table comes before the records but is known only after them. The writer therefore leaves room
// for the table at the beginning and fills it in at the end (Sink::rewrite). If the number of
// records differs from `expected`, `finish` moves all records, which reads and writes them a second
// time.
//
// If a call fails part-way, the file is no longer usable: from then on every method throws a
// StateError. Calling `append` between `begin_record` and `end_record` also throws a StateError,
// but changes nothing.
//
// Threads: one at a time. The file gets its final name when the sink's owner commits the sink.
// Memory: 12 bytes per record, expected or written, plus up to 1 MiB.
class FileWriter {
 public:
  // `expected`: the number of records, if known; 0 = unknown. Requires: the sink is empty.
  // Lifetime: the sink outlives the writer. Errors: InvalidArgumentError for more records than a
  // file can have; bad_alloc; those of the sink.
  FileWriter(Sink& sink, uint64_t expected);

  // Resumes a file of `expected` records that another writer began. Before anything is appended,
  // `adopt` each record that is in the sink. Requires: the sink holds at least
  // table_bytes(expected) bytes (record_table.h).
  struct AsLeft {};
  FileWriter(Sink& sink, uint64_t expected, AsLeft);
  // Adds the next record of a resumed file, with its length and checksum. Requires: the sink holds
  // all of it.
  void adopt(uint64_t length, uint32_t crc);

  // Returns: the record's index. Errors: those of the sink.
  uint64_t append(Bytes record);
  // As above, for a record whose checksum is known.
  uint64_t append(Bytes record, uint32_t crc);

  // For a record that does not fit into memory: call `begin_record`, then `add` for each piece,
  // then `end_record`, which returns the record's index. Errors: StateError if they are called in a
  // different order; those of the sink.
  void begin_record();
  void add(Bytes piece);
  uint64_t end_record();

  // Writes the table. Nothing can be appended afterwards. Errors: those of the sink.
  void finish();

  uint64_t records() const { return crcs_.size(); }

 private:
  class Step;
  void reserve(uint64_t expected);
  void move_records(uint64_t to);
  void write_table();

  Sink& sink_;
  uint64_t first_ = 0;    // offset of the first record
  uint64_t adopted_ = 0;  // offset of the next record to adopt
  std::vector<uint32_t> crcs_;
  std::vector<uint64_t> offsets_;
  uint32_t open_crc_ = 0;  // checksum so far of the record being written in pieces
  enum class State { kBetween, kInRecord, kFailed, kFinished } state_ = State::kBetween;
};

// Commits the sink of a finished file that has no sidecar. Then removes the sidecar of an earlier
// file with this name, because its class names and keys belong to the earlier file. Errors: those
// of Sink::commit.
void commit_without_sidecar(Sink& sink);

}  // namespace fuelrail::ffrecord
