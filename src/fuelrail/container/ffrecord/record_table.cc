#include "fuelrail/container/ffrecord/record_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/base/ranges.h"
#include "fuelrail/container/record_file.h"
#include "fuelrail/storage/read_batch.h"

namespace fuelrail::ffrecord {
namespace {

constexpr uint64_t kCrcBytes = 4;  // the table's own checksum, which does not cover itself
constexpr uint64_t kCountBytes = 8;
constexpr uint64_t kOffsetBytes = 8;

constexpr uint64_t kFirstReadBytes = uint64_t{64} << 10;
constexpr uint64_t kAtOnceBytes = uint64_t{64} << 20;  // longest table that is read in one round
constexpr size_t kTablePieceBytes = size_t{4} << 20;   // per read in that round
constexpr uint64_t kRecordsAtOnce = (uint64_t{1} << 20) / kOffsetBytes;  // per read of offsets

constexpr const char* kRestore = "Restore the file, or write it again";

template <typename T>
T read_le(const Source& source, uint64_t offset) {
  std::array<std::byte, sizeof(T)> bytes;
  source.read(offset, bytes);
  return load_le<T>(bytes.data());
}

[[noreturn]] void throw_never_written(const Source& source) {
  throw CorruptError("the record table was never written, because the writer stopped early",
                     {.path = source.uri(),
                      .offset = 0,
                      .expected = "a record count of at least 1",
                      .found = fmt::format("0 in a file of {} bytes", source.size_bytes()),
                      .remedy = "Write the file again"});
}

[[noreturn]] void throw_bad_count(const Source& source, int64_t count) {
  throw CorruptError("the number of records in the file's header is out of range",
                     {.path = source.uri(),
                      .offset = kCrcBytes,
                      .expected = fmt::format("0 to {}", kMaxRecords),
                      .found = fmt::format("{}", count),
                      .remedy = kRestore});
}

[[noreturn]] void throw_too_short(const Source& source, uint64_t wanted_bytes) {
  throw TruncatedError("the file is shorter than its record table",
                       {.path = source.uri(),
                        .expected = fmt::format("at least {} bytes", wanted_bytes),
                        .found = fmt::format("{}", source.size_bytes()),
                        .remedy = kRestore});
}

// The record count of a file with this header. Errors: those of RecordTable::read.
uint64_t checked_count(const Source& source, uint32_t stored_crc, int64_t count) {
  if (count == 0 && stored_crc == 0 && source.size_bytes() > kHeadBytes) {
    throw_never_written(source);
  }
  if (count < 0 || static_cast<uint64_t>(count) > kMaxRecords) throw_bad_count(source, count);
  const auto records = static_cast<uint64_t>(count);
  if (table_bytes(records) > source.size_bytes()) throw_too_short(source, table_bytes(records));
  return records;
}

// The file offset of record i's entry in the table of offsets.
uint64_t place_of_offset(uint64_t records, uint64_t i) {
  return kHeadBytes + records * sizeof(uint32_t) + i * kOffsetBytes;
}

// The first record that is not completely in the file: the last one that begins in it, or the first
// record if none does. Requires: the last record begins after the file's end.
uint64_t first_missing(const Source& source, uint64_t records) {
  const uint64_t behind = first_index(records - 1, [&](uint64_t i) {
    return i > 0 && read_le<uint64_t>(source, place_of_offset(records, i)) > source.size_bytes();
  });
  return std::max<uint64_t>(behind, 1) - 1;
}

// Errors: CorruptError unless the offset of record i is from `least` to `limit`; TruncatedError if
// the last record's offset is beyond `limit`, as in an incomplete copy.
void check_offset(const Source& source, uint64_t records, uint64_t i, int64_t offset,
                  uint64_t least, uint64_t limit) {
  if (offset >= 0 && static_cast<uint64_t>(offset) >= least &&
      static_cast<uint64_t>(offset) <= limit) {
    return;
  }
  if (i + 1 == records && offset >= 0 && static_cast<uint64_t>(offset) >= least) {
    const uint64_t missing = first_missing(source, records);
    throw TruncatedError(
        "the file is truncated, so this record and all later ones are missing or incomplete",
        {.path = source.uri(),
         .record = missing,
         .offset = read_le<uint64_t>(source, place_of_offset(records, missing)),
         .expected = fmt::format("more than {} bytes", offset),
         .found = fmt::format("{}", source.size_bytes()),
         .remedy = kRecover});
  }
  throw CorruptError("an offset in the record table is out of range",
                     {.path = source.uri(),
                      .record = i,
                      .offset = place_of_offset(records, i),
                      .expected = fmt::format("{} to {}", least, limit),
                      .found = fmt::format("{}", offset),
                      .remedy = kRestore});
}

void check_crc(const std::string& uri, Bytes bytes, uint32_t expected) {
  const uint32_t found = crc32(bytes);
  if (found == expected) return;
  throw CorruptError("the record table's checksum is wrong",
                     {.path = uri,
                      .offset = 0,
                      .expected = fmt::format("{:#010x}", expected),
                      .found = fmt::format("{:#010x}", found),
                      .remedy = kRestore});
}

}  // namespace

RecordTable RecordTable::read(const Source& source, bool verify, const Warn& warn, Bytes head) {
  return read_below(source, source.size_bytes(), verify, warn, head);
}

RecordTable RecordTable::read_of_cut_file(const Source& source, const Warn& warn) {
  RecordTable table = read_below(source, kMaxRecordBytes, true, warn, {});
  if (table.records_ > 0) {
    table.file_bytes_ = std::max(table.file_bytes_, table.offset(table.records_ - 1));
  }
  return table;
}

RecordTable RecordTable::read_below(const Source& source, uint64_t limit, bool verify,
                                    const Warn& warn, Bytes head) {
  if (source.size_bytes() < kHeadBytes) throw_too_short(source, kHeadBytes);
  std::vector<std::byte> own_head;
  if (head.empty()) {
    own_head.resize(std::min(source.size_bytes(), kFirstReadBytes));
    source.read(0, own_head);
    head = own_head;
  }
  RecordTable table;
  table.file_bytes_ = source.size_bytes();
  table.stored_crc_ = load_le<uint32_t>(head.data());
  table.records_ =
      checked_count(source, table.stored_crc_, load_le<int64_t>(head.data() + kCrcBytes));
  if (table_bytes(table.records_) <= kAtOnceBytes) {
    table.read_at_once(source, head);
    if (table.records_ > 0) {  // first, because it shows whether the file is truncated
      check_offset(source, table.records_, table.records_ - 1,
                   static_cast<int64_t>(table.offset(table.records_ - 1)),
                   table_bytes(table.records_), limit);
    }
    table.check_offsets(source, 0, table.records_, limit);
  } else {
    table.read_in_turn(source, limit);
  }
  if (verify) table.verify(source.uri());
  if (!table.has_checksum() && warn) {
    warn(
        fmt::format("{}: the record table has no checksum, as in FFRecord's first versions, so "
                    "damage to the table can go unnoticed. Rewrite the file to add a checksum",
                    source.uri()));
  }
  return table;
}

// Reads the rest of the table after `head`.
void RecordTable::read_at_once(const Source& source, Bytes head) {
  const size_t size = bytes().size();
  bytes_ = std::make_unique_for_overwrite<std::byte[]>(size);
  const size_t there = std::min<size_t>(size, head.size() - kCrcBytes);
  std::copy_n(head.begin() + kCrcBytes, there, bytes_.get());
  std::vector<ReadRequest> requests;
  for (size_t at = there; at < size; at += kTablePieceBytes) {
    requests.push_back({.source = &source,
                        .offset = kCrcBytes + at,
                        .into = {bytes_.get() + at, std::min(kTablePieceBytes, size - at)}});
  }
  read_all(requests);
}

void RecordTable::check_offsets(const Source& source, uint64_t begin, uint64_t end,
                                uint64_t limit) const {
  uint64_t least = begin == 0 ? table_bytes(records_) : offset(begin - 1);
  for (uint64_t i = begin; i < end; ++i) {
    check_offset(source, records_, i, static_cast<int64_t>(offset(i)), least, limit);
    least = offset(i);
  }
}

// Reads the table in pieces and checks each before the next, so that memory is used only as far as
// the offsets are valid; in a hole of a sparse file, they are zeros. Checks the last offset first,
// so that a false record count in a sparse file allocates nothing.
void RecordTable::read_in_turn(const Source& source, uint64_t limit) {
  check_offset(source, records_, records_ - 1,
               read_le<int64_t>(source, place_of_offset(records_, records_ - 1)),
               table_bytes(records_), limit);
  bytes_ = std::make_unique_for_overwrite<std::byte[]>(bytes().size());
  for (uint64_t begin = 0; begin < records_; begin += kRecordsAtOnce) {
    const uint64_t end = std::min(begin + kRecordsAtOnce, records_);
    const uint64_t place = place_of_offset(records_, begin);
    source.read(place, MutableBytes(bytes_.get() + (place - kCrcBytes),
                                    static_cast<size_t>((end - begin) * kOffsetBytes)));
    check_offsets(source, begin, end, limit);
  }
  source.read(
      kCrcBytes,
      MutableBytes(bytes_.get(), static_cast<size_t>(place_of_offset(records_, 0) - kCrcBytes)));
}

uint64_t RecordTable::offset(uint64_t i) const {
  return load_le<uint64_t>(bytes_.get() + place_of_offset(records_, i) - kCrcBytes);
}

uint64_t RecordTable::length(uint64_t i) const {
  return (i + 1 < records_ ? offset(i + 1) : file_bytes_) - offset(i);
}

uint32_t RecordTable::crc(uint64_t i) const {
  return load_le<uint32_t>(bytes_.get() + kCountBytes + i * sizeof(uint32_t));
}

void RecordTable::verify(const std::string& uri) const {
  if (has_checksum()) check_crc(uri, bytes(), stored_crc_);
}

}  // namespace fuelrail::ffrecord
