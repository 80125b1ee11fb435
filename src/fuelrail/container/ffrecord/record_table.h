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

// The number of bytes before the first record.
constexpr uint64_t table_bytes(uint64_t records) { return kHeadBytes + kEntryBytes * records; }

// Immutable. Threads: any number at once. Memory: 12 bytes per record. If the file states more
// records than its size allows, nothing is allocated. In a sparse file, the size may allow any
// number. For a table of more than 64 MiB, memory is therefore used only as far as the offsets are
// valid.
class RecordTable {
 public:
  // Reads the table and checks that it is complete, that its offsets ascend and are inside the file
  // and, with `verify`, that its checksum is right. If the stored checksum is 0, the table has
  // none, as in FFRecord's first versions: `warn` is called, and only the offsets are checked.
  // Errors: those of the source; TruncatedError for a file shorter than its table; CorruptError for
  // a wrong checksum, for an invalid count or offset, and for a table that was never written. A
  // killed writer of the original package leaves such a file: no records, no checksum, but bytes
  // after the header.
  //
  // Takes one read of 64 KiB. The rest of a longer table takes one round of parallel reads, or
  // several reads if the table exceeds 64 MiB. `head`: the beginning of the file, if the caller has
  // already read it.
  static RecordTable read(const Source& source, bool verify, const Warn& warn = {},
                          Bytes head = {});

  // As `read`, but for a file whose end may be missing after a complete table: offsets may be past
  // the end of the file, and the last record may be incomplete. The checksum is verified.
  static RecordTable read_of_cut_file(const Source& source, const Warn& warn = {});

  uint64_t size() const { return records_; }
  // Requires: i < size().
  uint64_t offset(uint64_t i) const;
  uint64_t length(uint64_t i) const;
  uint32_t crc(uint64_t i) const;                      // of the record's bytes
  uint64_t file_bytes() const { return file_bytes_; }  // of a cut file, at least the last offset

  // Whether the table stores a checksum of itself.
  bool has_checksum() const { return stored_crc_ != 0; }

  // Errors: CorruptError if the table in memory does not match its checksum. Does nothing if the
  // table has no checksum.
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
