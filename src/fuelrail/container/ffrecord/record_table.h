// The beginning of an FFRecord file: how many records, where each lies, and its checksum
// (docs/formats/ffrecord.md has the layout). Offsets are absolute; a record ends where the next one
// begins, the last one at the end of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "fuelrail/base/bytes.h"
#include "fuelrail/base/listener.h"
#include "fuelrail/storage/source.h"

namespace fuelrail::ffrecord {

inline constexpr uint64_t kHeadBytes = 12;   // CRC-32 of what follows up to the first record; count
inline constexpr uint64_t kEntryBytes = 12;  // a record: checksum u32; offset i64
inline constexpr uint64_t kMaxRecordBytes = uint64_t{1} << 46;
// No count in use comes near it.
inline constexpr uint64_t kMaxRecords = kMaxRecordBytes / kEntryBytes;

// Bytes before the first record.
constexpr uint64_t table_bytes(uint64_t records) { return kHeadBytes + kEntryBytes * records; }

// Immutable. Threads: any number at once. Memory: 12 bytes a record, of records that are in the
// file: a count that the file is too short for takes none, and neither does one that a sparse file
// has room for, up to 64 MiB: beyond that memory is used only as far as offsets can be.
class RecordTable {
 public:
  // Reads and checks it: that all of it is there, the offsets ascend and lie in the file, and, with
  // `verify`, its checksum. One that is 0 was written by the first versions, which made none: said
  // to `warn`, and the offsets are checked alone. Errors: the source's; TruncatedError for a file
  // that is shorter than its table; CorruptError for a wrong checksum, a count or an offset that
  // cannot be, and for a file whose table was never written, which is what a killed writer of the
  // original leaves (no records, no checksum, and bytes behind).
  //
  // Takes one read, and a second round of several at once where the table is longer than that; more
  // for one of more than 64 MiB. `head`: the beginning of the file, where it was read already.
  static RecordTable read(const Source& source, bool verify, const Warn& warn = {},
                          Bytes head = {});

  // The same of a file that may have lost its end, but none of its table: offsets may lie behind
  // the end of the file, and the last record may be shorter than it was. Its checksum is verified.
  static RecordTable read_of_cut_file(const Source& source, const Warn& warn = {});

  uint64_t size() const { return records_; }
  // Requires: i < size().
  uint64_t offset(uint64_t i) const;
  uint64_t length(uint64_t i) const;
  uint32_t crc(uint64_t i) const;                      // of the record's bytes
  uint64_t file_bytes() const { return file_bytes_; }  // of a cut file: at least the last offset

  // Whether the table has a checksum of its own.
  bool has_checksum() const { return stored_crc_ != 0; }

  // Errors: CorruptError where its own checksum is wrong now; none where it has none.
  void verify(const std::string& uri) const;

 private:
  RecordTable() = default;
  Bytes bytes() const { return {bytes_.get(), static_cast<size_t>(table_bytes(records_)) - 4}; }
  // `limit`: no record begins behind it.
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
