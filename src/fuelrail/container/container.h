// A dataset as an array of N records: the location of each record's bytes, and how to parse them.
// The engine reads extents (many at once, out of order) and calls `parse` on its worker threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuelrail/base/box.h"
#include "fuelrail/base/bytes.h"
#include "fuelrail/base/error.h"
#include "fuelrail/base/listener.h"
#include "fuelrail/container/sample.h"
#include "fuelrail/storage/source.h"

namespace fuelrail {

// The location of the bytes of a record that its sample needs: the whole framed record, or the part
// of it that a sidecar locates (an image of a `.bzna` file). Known without reading the record.
struct Extent {
  std::shared_ptr<const Source> source;
  uint64_t offset = 0;
  uint64_t length = 0;
};

// A record's place as shown to users: in error messages, in the output of `ls`, and as Sample.place
// in Python.
struct Place {
  std::string path;
  uint64_t record = 0;  // its index in this file or folder, not in a Concat or Subset
  uint64_t offset = 0;

  ErrorDetail detail() const { return {.path = path, .record = record, .offset = offset}; }
};

// Identifies content: copies of a file have equal fingerprints under any path, and adding, removing
// or reordering records of different lengths changes the fingerprint. Computed only from the number
// and the lengths of the records, never from a path or a time. fingerprint.h describes the
// computation, including that for Concat and Subset.
struct Fingerprint {
  uint64_t records = 0;
  uint64_t bytes = 0;     // sum of the records' lengths; of a Subset, the parent's sum
  uint32_t checksum = 0;  // CRC-32 of the lengths as u64 little-endian, in order
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};
std::string to_string(const Fingerprint& fingerprint);  // "1281167-140126340912-9bd366ae"

// Immutable once opened. Threads: any method may be called from several threads at once.
class Container {
 public:
  virtual ~Container() { delete fingerprint_.load(std::memory_order_relaxed); }
  Container& operator=(Container&&) = delete;

  virtual uint64_t size() const = 0;
  virtual const Schema& schema() const = 0;

  // The location of the bytes of record i that its sample needs. Requires: i < size(). Does not
  // read the record. If knows_extent(i) is false, the call queries the record's file, which may
  // take as long as a read. Otherwise it reads at most a part of a large record table (in a
  // RecordIO file's sidecar), usually once per 16,384 neighbouring records. Errors: CorruptError
  // for a record longer than its format allows, so that a damaged table or a sparse file cannot
  // cause a huge allocation; errors of reading the record table; NotFoundError and IoError of
  // querying the file.
  virtual Extent extent(uint64_t i) const = 0;

  // As `extent`, but may poll `keep_going` and throw a StateError if it returns false. Default:
  // extent(i).
  virtual Extent extent_while(uint64_t i, const KeepGoing& /*keep_going*/) const {
    return extent(i);
  }

  // If `extent` makes records, instead of finding them: how many at the same time. The source of
  // such an extent has the record in memory (Source::memory), so extents take memory until they are
  // released. 0: it makes none. Default: 0.
  virtual size_t makes_at_once() const { return 0; }

  // The location of the whole record i, which includes the bytes of extent(i). `parse` takes its
  // bytes too. Requires and errors: as for `extent`. Default: extent(i).
  virtual Extent record_extent(uint64_t i) const { return extent(i); }

  // Whether `extent(i)` needs no query of the record's own file. If false, it queries the file,
  // which on a network file system takes as long as a read; call `extent` for many of these records
  // in parallel. Requires: i < size(). Default: true.
  virtual bool knows_extent(uint64_t) const { return true; }

  // Checks and unframes the bytes of extent(i) or of record_extent(i), and assigns each field of
  // `out`, as a view where possible. Errors: CorruptError (framing, checksum), TruncatedError; both
  // with this record's place.
  virtual void parse(uint64_t i, Bytes framed, Sample& out) const = 0;

  // Where the bytes of record_extent(i) begin.
  virtual Place place(uint64_t i) const = 0;

  // The size of the record's image as `probe` gives it (ImageInfo::stored), if it is known without
  // reading the record. Requires: i < size(). Errors: those of reading the sidecar. Default: empty.
  virtual std::optional<Size> image_size(uint64_t /*i*/) const { return std::nullopt; }

  // Computed by the first call, which may have to query the file of every record, and kept for
  // later calls. If `keep_going` stops the computation with a StateError, the next call starts
  // over. No lock is held during the computation, so `keep_going` may itself call `fingerprint` (a
  // signal handler that saves a state does so). Errors: those of `extent`; StateError.
  Fingerprint fingerprint(const KeepGoing& keep_going = {}) const;

  // The class names of the field `label`, by label. Empty if neither the file nor its sidecar has
  // any.
  virtual const std::vector<std::string>& classes() const = 0;

  // The class names of a field with the role label; empty if there are none. Default: `classes` for
  // the field `label`.
  virtual const std::vector<std::string>& classes_of(std::string_view field) const;

  // The name of the storage format, for display: "RecordIO", "FFRecord", "folder", "packed folder";
  // "several formats" for files of different formats. Default: "records".
  virtual const char* format() const { return "records"; }

  // Whether `parse` verifies a checksum of every payload.
  virtual bool verifies_checksums() const = 0;

 private:
  // Computes the fingerprint. Threads: any number at once; all of them compute the same value.
  // `keep_going` may be empty.
  virtual Fingerprint make_fingerprint(const KeepGoing& keep_going) const = 0;

  mutable std::atomic<const Fingerprint*> fingerprint_ = nullptr;  // owned; set once
};

// The default limit on a record's length. A damaged table or a sparse file can claim any length, so
// code that reads whole records checks the length before it allocates memory.
inline constexpr uint64_t kDefaultMaxRecordBytes = uint64_t{2} << 30;

// Errors: CorruptError for an extent longer than `max_record_bytes`.
void check_length(const Extent& extent, uint64_t max_record_bytes = kDefaultMaxRecordBytes);

// Reads and parses record i; blocks. `framed` is a buffer that the caller can reuse for the next
// call. Errors: OutOfRangeError if i >= size(); those of extent_while, of check_length, of reading
// and of `parse`.
void read_sample(const Container& container, uint64_t i, std::vector<std::byte>& framed,
                 Sample& out, const KeepGoing& keep_going = {});

}  // namespace fuelrail
