// The journal of a packing job: the images that it has processed so far. It is stored beside the
// output so that a run after a kill can resume. The journal states what the files should contain; a
// resuming run checks the files against it.
//
// The file is `X.rec.journal.partial`, beside the first file of the job. It never gets a final name
// and is removed when the job ends. Little-endian:
//   "frpackj1"                                         8 bytes
//   length u32, crc u32, the job's own text            must be equal to resume
//   blocks: length u32, crc u32, entries               appended during the job
// An entry begins with its kind u8:
//   1 a record: bytes in its file u32, CRC-32 of its payload u32
//   2 a skipped image: length u32, the reason
//   3 a complete part: its number u32, its file's size u64, first and last CRC u32 (sidecar.h)
//   4 only the first N of the items so far are valid: N u64
// Kinds 1 and 2 are the items, in the job's order. Blocks before a truncated or damaged one are
// used, the rest is ignored: a kill may leave such a block.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/container/sidecar/sidecar.h"
#include "fuelrail/storage/sink.h"

namespace fuelrail::pack {

struct JournalItem {
  uint32_t framed_bytes = 0;  // 0: a skipped image
  uint32_t crc = 0;
};

struct JournalContents {
  std::vector<JournalItem> items;
  std::map<uint64_t, std::string> reasons;     // by item
  std::map<uint32_t, FileIdentity> completed;  // by part
  uint64_t valid_bytes = 0;                    // length of the usable part of the journal
};

// Returns: nothing if it is not the journal of this job. Never throws because of the contents;
// allocates no more than the journal's length allows.
std::optional<JournalContents> parse_journal(Bytes journal, const std::string& job);

// Threads: one at a time. The holder of a job's journal is the only writer of its output.
class PackJournal {
 public:
  // Starts a journal and replaces an existing one. With `leave`, it instead continues the existing
  // journal, keeps the file if destroyed before `finish`, and leaves another job's journal
  // unchanged until `begin_anew`. `interval`: see `due`. Errors: those of FileSystem::create;
  // IoError while another object holds the journal. Errors of all methods name the output, not the
  // journal.
  PackJournal(const std::string& output, const std::string& job, bool leave,
              std::chrono::milliseconds interval);
  ~PackJournal();
  PackJournal& operator=(PackJournal&&) = delete;

  // Whether an earlier run left a journal for this output, of the same job or of another.
  static bool is_left(const std::string& output);

  // The contents that an earlier run of this job left; empty if it left none, and on file systems
  // whose names do not show unfinished files. The file's old contents are kept until something is
  // appended.
  const std::optional<JournalContents>& left() const { return left_; }
  // Whether a journal exists that this job cannot use.
  bool is_foreign() const { return is_foreign_; }

  // Replaces such a journal with an empty one. Required before anything is flushed if `is_foreign`.
  // Errors: IoError.
  void begin_anew();

  // Drops all earlier items but the first `items`. Afterwards `left` is empty, and complete parts
  // must be added again. Requires: `left` is not empty.
  void keep(uint64_t items);

  // Items reach the journal with `flush`. It is due when the interval has passed since the last
  // flush, or when many items are waiting. The records themselves should be in their file by then:
  // missing ones are packed again. Errors: IoError.
  void add_record(uint64_t framed_bytes, uint32_t crc);
  void add_left_out(const std::string& reason);
  void add_completed(uint32_t part, const FileIdentity& identity);
  bool due() const;
  void flush();

  // The job has succeeded: removes the journal.
  void finish();

 private:
  std::string output_;
  std::string job_;
  bool leave_;
  std::chrono::milliseconds interval_;
  std::unique_ptr<Sink> sink_;
  std::optional<JournalContents> left_;
  bool is_foreign_ = false;
  std::vector<std::byte> entries_;  // since the last flush
  std::chrono::steady_clock::time_point flushed_;
};

}  // namespace fuelrail::pack
