#include "fuelrail/container/recordio/record_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/formats.h"
#include "fuelrail/container/payload.h"
#include "fuelrail/container/recordio/framing.h"

namespace fuelrail::recordio {
namespace {

// Up to this record size, a scan reads everything in large blocks, which is cheaper than one call
// per record. For larger records it makes one small read per record.
constexpr uint64_t kSmallRecordBytes = 16 * 1024;
constexpr uint64_t kHopBytes = 512;
constexpr uint64_t kScannedAtOnce = 512 * 1024;

// Collects the records and determines what their payloads are.
class TableBuilder {
 public:
  TableBuilder(const Source& source, const ScanProgress& progress)
      : source_(source), reporter_(source, progress) {
    if (source.size_bytes() != 0) return;
    throw TruncatedError("the file is empty: it has no records",
                         {.path = source.uri(), .remedy = "Pack the file again"});
  }

  SidecarWriter& table() { return table_; }
  uint64_t records() const { return tally_.records(); }

  // Call after the record was added to the table. `prefix`: the beginning of the payload that the
  // tally needs, if the payload is long enough to have it.
  void finish_record(Bytes prefix, uint64_t end_offset) {
    tally_.add(prefix);
    reporter_.advance(records(), end_offset);
  }

  // Takes the kind of the payloads from `own`, if given.
  SidecarWriter take(const Sidecar* own = nullptr) {
    if (records() == 0)
      throw CorruptError("the file has no readable records",
                         {.path = source_.uri(), .remedy = "Restore the file"});
    reporter_.finish();
    table_.set_payloads(own != nullptr ? own->payloads()
                                       : naming(source_.uri(), [&] { return tally_.kind(); }));
    return std::move(table_);
  }

 private:
  const Source& source_;
  ScanReporter reporter_;
  SidecarWriter table_;
  PayloadTally tally_;
};

// The payload's first bytes that the tally needs. `storage` holds the payload of a record with
// several parts.
Bytes read_prefix(BlockReader& reader, uint64_t offset, const RecordShape& shape,
                  std::vector<std::byte>& storage) {
  if (shape.parts > 1) {
    return unframe(reader.at(offset, shape.framed_bytes), storage, offset).payload;
  }
  const uint64_t at = offset + kHeadBytes;
  const uint64_t length = PartHead(reader.at(offset, kHeadBytes).data()).length();
  const Bytes header = reader.at(at, std::min<uint64_t>(length, kPayloadHeadBytes));
  if (header.size() < kPayloadHeadBytes) return header;
  const uint64_t prefix = payload_prefix_bytes(header);
  return prefix <= length ? reader.at(at, prefix) : header;
}

// Finds the numbers of records in a sidecar's table, for ascending offsets.
class KnownRecords {
 public:
  explicit KnownRecords(const Sidecar& sidecar) : sidecar_(sidecar) {}

  // Empty if the table has no such record.
  std::optional<uint64_t> number_of(const RecordEntry& entry) {
    while (next_ < sidecar_.records() && sidecar_.record(next_).offset < entry.offset) ++next_;
    if (next_ == sidecar_.records()) return std::nullopt;
    const RecordEntry known = sidecar_.record(next_);
    const bool is_it = known.offset == entry.offset && known.length == entry.length;
    return is_it ? std::optional(next_) : std::nullopt;
  }

 private:
  const Sidecar& sidecar_;
  uint64_t next_ = 0;
};

}  // namespace

SidecarWriter scan_heads(const Source& source, const ScanProgress& progress) {
  TableBuilder builder(source, progress);
  BlockReader reader(source, kHopBytes);
  std::vector<std::byte> storage;
  uint64_t offset = 0;
  try {
    while (offset < reader.source_bytes()) {
      const RecordShape shape = measure_record(reader, offset);
      const Bytes prefix = read_prefix(reader, offset, shape, storage);
      builder.table().add_record({offset, shape.framed_bytes});
      reader.set_block_bytes(shape.framed_bytes <= kSmallRecordBytes ? kScannedAtOnce : kHopBytes);
      offset += shape.framed_bytes;
      builder.finish_record(prefix, offset);
    }
  } catch (Error& error) {
    error.add({.path = source.uri(), .record = builder.records(), .offset = offset});
    throw;
  }
  return builder.take();
}

SidecarWriter read_table(std::shared_ptr<const Source> source, const ScanProgress& progress,
                         const HintOptions& hints) {
  TableBuilder builder(*source, progress);
  HintWorkers hint_workers(hints);
  RecordReader reader(source);
  try {
    while (const auto record = reader.next()) {
      const uint32_t crc = crc32(record->payload);
      builder.table().add_record({record->offset, record->framed_bytes}, crc);
      hint_workers.add(builder.records(), record->payload, crc);
      builder.finish_record(record->payload, reader.position());
    }
  } catch (Error& error) {
    error.add({.record = builder.records(), .offset = reader.position()});
    throw;
  }
  builder.table().hints() = hint_workers.finish();
  return builder.take();
}

SidecarWriter recover_table(std::shared_ptr<const Source> source,
                            const std::function<void(const Damage&)>& report, const Sidecar* own,
                            const ScanProgress& progress) {
  TableBuilder builder(*source, progress);
  RecordReader reader(source, {.recover = report});
  std::optional<KnownRecords> known;
  if (own != nullptr) known.emplace(*own);
  while (const auto record = reader.next()) {
    const RecordEntry entry{record->offset, record->framed_bytes};
    const std::optional<uint64_t> number = known ? known->number_of(entry) : std::nullopt;
    if (number && own->has_checksums()) {
      builder.table().add_record(entry, own->payload_crc(*number));
    } else if (number || !known) {
      builder.table().add_record(entry);
    } else {
      report({.path = source->uri(),
              .offset = entry.offset,
              .skipped_bytes = entry.length,
              .reason = fmt::format("the sidecar has no record of {} bytes at this offset",
                                    entry.length)});
      continue;
    }
    builder.finish_record(record->payload, reader.position());
  }
  return builder.take(own);
}

}  // namespace fuelrail::recordio
