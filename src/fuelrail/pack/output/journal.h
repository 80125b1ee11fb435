// What a packing job has dealt with so far, kept beside its output so that a run after a kill can
// go on. It says what should be there; the files say what is, and whoever goes on checks both.
//
// `X.rec.journal.partial`, beside the first file that the job makes: it never gets a final name,
// and goes with the job's end. Little-endian:
//   "frpackj1"                                         8 bytes
//   length u32, crc u32, the job's own text            what a job must share to go on
//   blocks: length u32, crc u32, entries               appended as the job goes on
// An entry begins with its kind u8:
//   1 a record: bytes in its file u32, CRC-32 of its payload u32
//   2 an image left out: length u32, the reason
//   3 a part is complete: its number u32, its file's size u64, its first and last CRC u32
//   (sidecar.h) 4 only so many items of all those before count: u64
// Kinds 1 and 2 are the items, in the job's order. A block that is cut off or damaged ends what can
// be used: a kill may leave one.
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
  uint32_t framed_bytes = 0;  // 0: an image left out
  uint32_t crc = 0;
};

struct JournalContents {
  std::vector<JournalItem> items;
  std::map<uint64_t, std::string> reasons;     // by item
  std::map<uint32_t, FileIdentity> completed;  // by part
  uint64_t valid_bytes = 0;                    // of the journal; what is behind cannot be used
};

// Returns: nothing where it is not the journal of this very job. Never throws for what is in it;
// allocates no more than its length allows.
std::optional<JournalContents> parse_journal(Bytes journal, const std::string& job);

// Threads: one at a time. Whoever holds a job's journal is the one who writes its output.
class PackJournal {
 public:
  // Begins a journal, in place of what is there. `leave`: it goes on with what is there, and stays
  // when it is destroyed before `finish`; what is another job's stays as it is until `begin_anew`.
  // `interval`: see `due`. Errors: those of FileSystem::create; IoError while another one holds it;
  // all errors, also of the other methods, name the output and not the journal.
  PackJournal(const std::string& output, const std::string& job, bool leave,
              std::chrono::milliseconds interval);
  ~PackJournal();
  PackJournal& operator=(PackJournal&&) = delete;

  // Whether a run before this one has left a journal for this output, be it of the same job or not.
  static bool is_left(const std::string& output);

  // What a run of this job has left; none where there is nothing of it, and where the names of the
  // file system show nothing unfinished. What it held is only gone when something is appended.
  const std::optional<JournalContents>& left() const { return left_; }
  // Whether there is a journal that cannot be used.
  bool is_foreign() const { return is_foreign_; }

  // Drops such a one. Required, where it is there, before anything is flushed. Errors: IoError.
  void begin_anew();

  // Drops all of what was left but the first items. `left` is empty from then on; parts that are
  // complete are to be said again. Requires: something was left.
  void keep(uint64_t items);

  // What has been dealt with is in the journal after `flush`, for which it is time once an interval
  // has passed since the last, or much has come. The records themselves should be in their file
  // before: those that are not are packed again. Errors: IoError.
  void add_record(uint64_t framed_bytes, uint32_t crc);
  void add_left_out(const std::string& reason);
  void add_completed(uint32_t part, const FileIdentity& identity);
  bool due() const;
  void flush();

  // The job has ended well: the journal goes.
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
