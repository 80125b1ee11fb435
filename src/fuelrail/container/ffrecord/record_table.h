// The beginning of an FFRecord file: the number of records, and each record's offset and checksum
// (docs/formats/ffrecord.md has the layout). Offsets are absolute. A record ends where the next one
// begins; the last one ends at the end of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "fuelrail/base/bytes.h"
#include "fuelrail/base/listener.h"
#include "fuelrail/storage/source.h"

namespace fuelrail::ffrecord {

inline constexpr uint64_t kHeadBytes = 12;   // CRC-32 of the rest of the table; number of records
inline constexpr uint64_t kEntryBytes = 12;  // per record: checksum u32; offset i64
inline constexpr uint64_t kMaxRecordBytes = uint64_t{1} << 46;
// Far above the number of records of any real file.
inline constexpr uint64_t kMaxRecords = kMaxRecordBytes / kEntryBytes;

// The bytes before the first record.
constexpr uint64_t table_bytes(uint64_t records) { return kHeadBytes + kEntryBytes * records; }

// Immutable. Threads: any number at once. Memory: 12 bytes per record that the file has. A number
// of records too large for the file's size allocates nothing. Neither does one that only a sparse
// file's size allows: beyond 64 MiB, memory is used only as far as the offsets are valid.
class RecordTable {
 public:
  // Reads and checks the table: it is complete, offsets ascend and lie in the file and, with
  // `verify`, its checksum is right. A stored checksum of 0 comes from FFRecord's first versions,
  // which wrote none: `warn` is called, and only the offsets are checked. Errors: those of the
  // source; TruncatedError for a file shorter than its table; CorruptError for a wrong checksum,
  // for an invalid count or offset, and for a file whose table was never written, as a killed
  // writer of the original leaves it (no records, no checksum, but bytes after the header).
  //
  // Takes one read, plus one round of parallel reads if the table is longer than that, or several
  // if it exceeds 64 MiB. `head`: the beginning of the file, if the caller has already read it.
  static RecordTable read(const Source& source, bool verify, const Warn& warn = {},
                          Bytes head = {});

  // As `read`, for a file that may have lost its end but none of its table: offsets may be past the
  // end of the file, and the last record may be shorter than it was. The checksum is verified.
  static RecordTable read_of_cut_file(const Source& source, const Warn& warn = {});

  uint64_t size() const { return records_; }
  // Requires: i < size().
  uint64_t offset(uint64_t i) const;
  uint64_t length(uint64_t i) const;
  uint32_t crc(uint64_t i) const;                      // of the record's bytes
  uint64_t file_bytes() const { return file_bytes_; }  // if truncated, at least the last offset

  // Whether the table stores a checksum of itself.
  bool has_checksum() const { return stored_crc_ != 0; }

  // Errors: CorruptError if the table in memory does not match its own checksum. Does nothing
  // without one.
  void verify(const std::string& uri) const;

 private:
  RecordTable() = default;
  Bytes bytes() const { return {bytes_.get(), static_cast<size_t>(table_bytes(records_)) - 4}; }
  // `limit`: the largest valid offset of a record.
  static RecordTable read_below(const Source& source, uint64_t limit, bool verify, const Warn& warn,
                                Bytes head);
  void read_at_once(const Source& source, Bytes head);
  void check_offsets(const Source& source, uint64_t begin, uint64_t end, uint64_t limit) const;
  void read_in_turn(const Source& source, uint64_t limit);

  uint32_t stored_crc_ = 0;
  uint64_t records_ = 0;
  uint64_t file_bytes_ = 0;
  std::unique_ptr<std::byte[]> bytes_;  // of the file, from the count on
};

}  // namespace fuelrail::ffrecord
