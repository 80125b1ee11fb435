// Writes a record file of any format. The caller handles names, locks and companions
// (pack/output/part.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/container/record_split.h"
#include "fuelrail/container/sidecar/sidecar_writer.h"
#include "fuelrail/storage/sink.h"

namespace fuelrail {

// Writes one file's records and adds each to its sidecar. Threads: one at a time.
class RecordFileWriter {
 public:
  virtual ~RecordFileWriter() = default;
  RecordFileWriter& operator=(RecordFileWriter&&) = delete;

  // Appends a record. `crc` is the payload's CRC-32; `key` is the record's key in the index, if the
  // format has one. Errors: InvalidArgumentError for a payload too long for the format; those of
  // the sinks.
  virtual void append(Bytes payload, uint32_t crc, uint64_t key) = 0;

  // These three methods resume a file that another writer began. Before anything is appended, the
  // caller adopts the records in the sink one by one; the sink's owner removes all bytes after
  // them. `payload_of` returns the payload of the record whose framed bytes are `framed`: a view
  // into `framed`, or into memory that is valid until the next call; empty if `framed` is not
  // exactly one whole record. `adopt` adds the next record in the sink, without writing it.
  // `first_offset` is the offset of the first record.
  virtual std::optional<Bytes> payload_of(Bytes framed) = 0;
  virtual void adopt(uint64_t framed_bytes, Bytes payload, uint32_t crc, uint64_t key) = 0;
  virtual uint64_t first_offset() const = 0;

  // Sets the splits that the file stores. Requires: the format has splits (FileFormat::splits),
  // with these names; all records exist when `finish` is called. Default: the format has none.
  virtual void set_splits(std::vector<RecordSplit>) {}

  // Call after the last record. Errors: those of the sinks.
  virtual void finish() = 0;
};

// The writer's outputs. Lifetime: they outlive the writer.
struct RecordFileSinks {
  Sink& data;
  Sink* index;  // null if the format has none
  SidecarWriter& sidecar;
};

}  // namespace fuelrail
