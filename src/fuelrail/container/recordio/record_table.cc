#include "fuelrail/container/recordio/record_table.h"

#include <algorithm>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/recordio/framing.h"
#include "fuelrail/container/recordio/image_header.h"

namespace fuelrail::recordio {
namespace {

// Records up to this size are scanned by reading everything in large blocks: cheaper than a call
// each. Above it, one small read a record.
constexpr uint64_t kSmallRecordBytes = 16 * 1024;
constexpr uint64_t kHopBytes = 512;
constexpr uint64_t kBlockBytes = 512 * 1024;
constexpr uint64_t kProgressRecords = 1024;

// Collects the records and decides what their payloads are.
class TableBuilder {
 public:
  TableBuilder(const Source& source, const TableProgress& progress)
      : source_(source), progress_(progress) {
    if (source.size_bytes() != 0) return;
    throw TruncatedError("the file is empty: it holds no record",
                         {.path = source.uri(), .remedy = "Pack it anew"});
  }

  SidecarWriter& table() { return table_; }
  uint64_t records() const { return records_; }

  // `prefix` holds the payload's image header and labels, if it can have them. Called after the
  // record was added to the table.
  void finish_record(Bytes prefix, uint64_t end_offset) {
    ++records_;
    if (prefix.size() >= kImageHeaderBytes && image_prefix_bytes(prefix) <= prefix.size()) {
      ++image_records_;
      labels_.add(parse_image_record(prefix).labels);
    }
    if (progress_ && (records_ % kProgressRecords == 0 || end_offset == source_.size_bytes()) &&
        !progress_(end_offset, source_.size_bytes())) {
      throw StateError("interrupted", {.path = source_.uri()});
    }
  }

  SidecarWriter take() {
    if (records_ == 0)
      throw CorruptError("the file holds no readable record", {.path = source_.uri()});
    if (image_records_ > records_ / 2) table_.set_labels(labels_.summary());
    return std::move(table_);
  }

 private:
  const Source& source_;
  const TableProgress& progress_;
  SidecarWriter table_;
  LabelTally labels_;
  uint64_t records_ = 0;
  uint64_t image_records_ = 0;
};

// The payload's first bytes, up to the end of its labels when it is an image record. `storage`
// holds the payload of a record that was written in parts.
Bytes read_prefix(BlockReader& reader, uint64_t offset, const RecordShape& shape,
                  std::vector<std::byte>& storage) {
  if (shape.parts > 1) {
    return unframe(reader.at(offset, shape.framed_bytes), storage, offset).payload;
  }
  const uint64_t at = offset + kHeadBytes;
  const uint64_t length = PartHead(reader.at(offset, kHeadBytes).data()).length();
  const Bytes header = reader.at(at, std::min<uint64_t>(length, kImageHeaderBytes));
  if (header.size() < kImageHeaderBytes) return header;
  const uint64_t prefix = image_prefix_bytes(header);
  return prefix <= length ? reader.at(at, prefix) : header;
}

}  // namespace

SidecarWriter scan_heads(const Source& source, const TableProgress& progress) {
  TableBuilder builder(source, progress);
  BlockReader reader(source, kHopBytes);
  std::vector<std::byte> storage;
  uint64_t offset = 0;
  try {
    while (offset < reader.source_bytes()) {
      const RecordShape shape = measure_record(reader, offset);
      const Bytes prefix = read_prefix(reader, offset, shape, storage);
      builder.table().add_record({offset, shape.framed_bytes});
      reader.set_block_bytes(shape.framed_bytes <= kSmallRecordBytes ? kBlockBytes : kHopBytes);
      offset += shape.framed_bytes;
      builder.finish_record(prefix, offset);
    }
  } catch (Error& error) {
    error.add({.path = source.uri(), .record = builder.records(), .offset = offset});
    throw;
  }
  return builder.take();
}

SidecarWriter read_table(std::shared_ptr<const Source> source, const TableProgress& progress,
                         const std::function<void(const Damage&)>& recover) {
  TableBuilder builder(*source, progress);
  RecordReader reader(source, {.recover = recover});
  try {
    while (const auto record = reader.next()) {
      builder.table().add_record({record->offset, record->framed_bytes}, crc32(record->payload));
      builder.finish_record(record->payload, reader.position());
    }
  } catch (Error& error) {
    error.add({.record = builder.records(), .offset = reader.position()});
    throw;
  }
  return builder.take();
}

}  // namespace fuelrail::recordio
