// A file format that holds N records, seen as an array: where each record's bytes lie, and what
// they mean. The engine reads extents (many at once, out of order) and calls `parse` on its worker
// threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/base/error.h"
#include "fuelrail/base/listener.h"
#include "fuelrail/container/sample.h"
#include "fuelrail/storage/source.h"

namespace fuelrail {

// Where a record's framed bytes lie. Known without reading the record.
struct Extent {
  std::shared_ptr<const Source> source;
  uint64_t offset = 0;
  uint64_t length = 0;
};

// A record's place, for people: error messages, `ls`, Sample.place in Python.
struct Place {
  std::string path;
  uint64_t record = 0;  // index in that file or folder, not in a Concat or Subset around it
  uint64_t offset = 0;

  ErrorDetail detail() const { return {.path = path, .record = record, .offset = offset}; }
};

// Says "the same content": equal for a copy of the file anywhere, different when records were
// added, removed or reordered. Never made from a path or a time. How it is computed, and how Concat
// and Subset make theirs: fingerprint.h.
struct Fingerprint {
  uint64_t records = 0;
  uint64_t bytes = 0;     // sum of the extents' lengths; of a Subset: its parent's
  uint32_t checksum = 0;  // CRC-32 of the lengths as u64 little-endian, in order
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};
std::string to_string(const Fingerprint& fingerprint);  // "1281167-140126340912-9bd366ae"

// Immutable once opened. Threads: every method may be called from any thread at once.
class Container {
 public:
  virtual ~Container() { delete fingerprint_.load(std::memory_order_relaxed); }
  Container& operator=(Container&&) = delete;

  virtual uint64_t size() const = 0;
  virtual const Schema& schema() const = 0;

  // Where record i lies. Requires: i < size(). The record itself is not read. Where knows_extent(i)
  // is false, its file is looked at, which may take as long as a read; else at most a part of a
  // large record table is read (RecordIO's in a sidecar), as a rule once for 16,384 neighbours.
  // Errors: CorruptError for a record that is longer than its format allows, so that no memory is
  // taken for what a damaged table or a sparse file claims; those of the record table;
  // NotFoundError and IoError of the file that is looked at.
  virtual Extent extent(uint64_t i) const = 0;

  // Whether `extent` asks no file system. False where it would look at a file, which on a network
  // file system takes as long as a read: who wants many such extents asks for many at once.
  // Requires: i < size(). Default: true.
  virtual bool knows_extent(uint64_t) const { return true; }

  // Checks and unframes the bytes of extent(i) into `out`, each field as a whole; views where it
  // can. Errors: CorruptError (framing, checksum), TruncatedError; both with this record's place.
  virtual void parse(uint64_t i, Bytes framed, Sample& out) const = 0;

  virtual Place place(uint64_t i) const = 0;

  // Made when it is first asked for, which may mean a look at every record, and kept; where
  // `keep_going` ends that, the next call begins anew. No lock is held meanwhile: `keep_going` may
  // ask for the fingerprint too, as a signal handler that saves a state does. Errors: those of
  // `extent`; StateError.
  Fingerprint fingerprint(const KeepGoing& keep_going = {}) const;

  // Names of the classes, by label. Empty when the format and its sidecar have none.
  virtual const std::vector<std::string>& classes() const = 0;

  // What the records lie in, for people: "RecordIO", "FFRecord", "folder", "packed folder"; of
  // several files that differ, "several formats". Default: "records".
  virtual const char* format() const { return "records"; }

  // Whether `parse` verifies a checksum of every payload.
  virtual bool verifies_checksums() const = 0;

 private:
  // Threads: any; two at once make the same. `keep_going` may be empty.
  virtual Fingerprint make_fingerprint(const KeepGoing& keep_going) const = 0;

  mutable std::atomic<const Fingerprint*> fingerprint_ = nullptr;  // owned; set once
};

// A longer record is a bad one, before memory is taken for it: what a damaged table or a sparse
// file says of a length costs nothing to write. Whoever reads records as a whole holds them against
// it.
inline constexpr uint64_t kDefaultMaxRecordBytes = uint64_t{2} << 30;

// Errors: CorruptError for an extent of more than `max_record_bytes`.
void check_length(const Extent& extent, uint64_t max_record_bytes = kDefaultMaxRecordBytes);

// Reads and parses one record, blocking. `framed` is the caller's memory, reused from call to call.
// Errors: OutOfRangeError when i >= size(); those of check_length, read and parse.
void read_sample(const Container& container, uint64_t i, std::vector<std::byte>& framed,
                 Sample& out);

}  // namespace fuelrail
