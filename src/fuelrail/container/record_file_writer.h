// Writing a record file, whatever its format. Names, locks and companions are the caller's
// (pack/output/part.h).
#pragma once

#include <cstdint>
#include <optional>

#include "fuelrail/base/bytes.h"
#include "fuelrail/container/sidecar/sidecar_writer.h"
#include "fuelrail/storage/sink.h"

namespace fuelrail {

// Writes one file's records, and tells its sidecar of each. Threads: one at a time.
class RecordFileWriter {
 public:
  virtual ~RecordFileWriter() = default;
  RecordFileWriter& operator=(RecordFileWriter&&) = delete;

  // `crc` is the payload's CRC-32; `key` is what an index calls the record, where the format has
  // an index. Errors: InvalidArgumentError for what is too long for the format; the sinks'.
  virtual void append(Bytes payload, uint32_t crc, uint64_t key) = 0;

  // Resuming a file that another writer has begun: what is in the sink is adopted, record by
  // record, before anything is appended; the sink's owner cuts off the rest. `payload_of`: the
  // payload of the record with these bytes in the file, a view of them or of memory that lives
  // until the next call; empty where they are not one whole record. `adopt`: the next record has
  // these lengths. `first_offset`: where the first record begins.
  virtual std::optional<Bytes> payload_of(Bytes framed) = 0;
  virtual void adopt(uint64_t framed_bytes, uint64_t payload_bytes, uint32_t crc, uint64_t key) = 0;
  virtual uint64_t first_offset() const = 0;

  // All records have been appended. Errors: the sinks'.
  virtual void finish() = 0;
};

// Where the writer puts what it is given. Lifetime: longer than the writer's.
struct RecordFileSinks {
  Sink& data;
  Sink* index;  // null where the format has none
  SidecarWriter& sidecar;
};

}  // namespace fuelrail
