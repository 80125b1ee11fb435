// The journal of a packing job lists the images that the job has processed so far. It is stored
// beside the output, so that a killed job can be resumed. The resuming run compares the files with
// the journal.
//
// The file is `X.rec.journal.partial`, beside the first file of the job. It never gets a final
// name, and is removed when the job ends. Little-endian:
//   "frpackj1"                                         8 bytes
//   length u32, crc u32, the job's description         must be equal to resume
//   blocks: length u32, crc u32, entries               appended during the job
// An entry begins with its kind u8:
//   1 a record: bytes in its file u32, CRC-32 of its payload u32
//   2 a skipped image: length u32, the reason
//   3 a complete part: its number u32, its file's size u64, first and last CRC u32 (sidecar.h)
//   4 only the first N of the items so far are valid: N u64
// The entries of kinds 1 and 2 are the items, in the job's order. The blocks before the first
// truncated or damaged block are used, and the rest is ignored: a kill may leave such a block.
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
  std::map<uint64_t, std::string> reasons;     // of skipped images, by item
  std::map<uint32_t, FileIdentity> completed;  // by part
  uint64_t valid_bytes = 0;                    // number of usable bytes at the start of the journal
};

// Returns: the contents, or nothing if it is not the journal of this job. Throws no error for any
// contents. Allocates memory only in proportion to the journal's length.
std::optional<JournalContents> parse_journal(Bytes journal, const std::string& job);

// Threads: one at a time. The journal is a lock: only the job that holds it writes the output.
class PackJournal {
 public:
  // Starts an empty journal, which replaces an existing one. `leave`: instead, continue the
  // existing journal; keep the file if this object is destroyed before `finish`; and leave a
  // different job's journal unchanged until `begin_anew`. `job`: the job's description (plan.h).
  // `interval`: see `due`. Errors: those of FileSystem::create; IoError while another object holds
  // the journal. Errors of all methods name the output, not the journal.
  PackJournal(const std::string& output, const std::string& job, bool leave,
              std::chrono::milliseconds interval);
  ~PackJournal();
  PackJournal& operator=(PackJournal&&) = delete;

  // Whether an earlier run, of the same job or a different one, left a journal for this output.
  static bool is_left(const std::string& output);

  // The journal that an earlier run of this job left; empty if it left none, and on file systems
  // that do not show unfinished files. The file keeps its old contents until something is appended.
  const std::optional<JournalContents>& left() const { return left_; }
  // Whether a journal exists that belongs to a different job.
  bool is_foreign() const { return is_foreign_; }

  // Replaces a different job's journal with an empty one. If `is_foreign`, call this before
  // anything is flushed. Errors: IoError.
  void begin_anew();

  // Keeps only the first `items` of the earlier items. Afterwards `left` is empty, and complete
  // parts must be added again. Requires: `left` is not empty.
  void keep(uint64_t items);

  // `flush` writes the added items to the journal. It is due when the interval has passed since the
  // last flush, or when many items are waiting. Flush the records to their own file first: records
  // that are missing there are packed again. Errors: IoError.
  void add_record(uint64_t framed_bytes, uint32_t crc);
  void add_left_out(const std::string& reason);
  void add_completed(uint32_t part, const FileIdentity& identity);
  bool due() const;
  void flush();

  // Removes the journal, because nothing is left to resume.
  void finish();

 private:
  std::string output_;
  std::string job_;
  bool leave_;
  std::chrono::milliseconds interval_;
  std::unique_ptr<Sink> sink_;
  std::optional<JournalContents> left_;
  bool is_foreign_ = false;
  std::vector<std::byte> entries_;  // added since the last flush
  std::chrono::steady_clock::time_point flushed_;
};

}  // namespace fuelrail::pack
