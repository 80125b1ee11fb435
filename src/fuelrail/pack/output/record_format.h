// The formats of packed files, and how one is written. The table of formats is in record_format.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "fuelrail/base/bytes.h"
#include "fuelrail/container/sidecar/sidecar_writer.h"
#include "fuelrail/storage/sink.h"

namespace fuelrail::pack {

// Writes one file's records, and tells its sidecar of each. Threads: one at a time.
class RecordFileWriter {
 public:
  virtual ~RecordFileWriter() = default;
  RecordFileWriter(const RecordFileWriter&) = delete;
  RecordFileWriter& operator=(const RecordFileWriter&) = delete;

  // `crc` is the payload's CRC-32; `key` is what an index calls the record, where the format has
  // an index. Errors: InvalidArgumentError for what is too long for the format; the sinks'.
  virtual void append(Bytes payload, uint32_t crc, uint64_t key) = 0;

  // Of a file that was begun by another writer and is gone on with: what stands in the sink is
  // taken over, record by record, before anything is appended; the sink is cut behind it by its
  // owner. `payload_of`: the payload of a record with these bytes in the file, a view of them or of
  // memory that lives until the next call; none where they are not one whole record. `adopt`: the
  // next record is of these lengths. `first_offset`: where the first one begins.
  virtual std::optional<Bytes> payload_of(Bytes framed) = 0;
  virtual void adopt(uint64_t framed_bytes, uint64_t payload_bytes, uint32_t crc, uint64_t key) = 0;
  virtual uint64_t first_offset() const = 0;

  // All of the file has been appended; nothing is after it. Errors: the sinks'.
  virtual void finish() = 0;

 protected:
  RecordFileWriter() = default;
};

// Where the writer puts what it is given. Lifetime: longer than the writer's.
struct RecordFileSinks {
  Sink& data;
  Sink* index;  // null where the format has none
  SidecarWriter& sidecar;
};

struct RecordFormat {
  std::string_view extension;        // of the data file
  std::string_view index_extension;  // in its place, of the index; empty: the format has none
  uint64_t max_payload_bytes;        // of a record
  // `expected`: how many records will come, or nearly. Where the data sink is not empty, the file
  // is gone on with; what is too short for that is cut to nothing.
  std::unique_ptr<RecordFileWriter> (*write)(const RecordFileSinks& sinks, uint64_t expected);
};

// Errors: InvalidArgumentError where the name ends as none of the formats does, or is nothing but
// its end.
const RecordFormat& record_format_of(const std::string& uri);

// Before memory is taken for a record that is to be copied. Errors: UnsupportedError for one that
// is too long for the format.
void check_payload_bytes(uint64_t bytes, const RecordFormat& to);

// `X` for `X.rec`. Requires: the URI is one of the format's.
std::string stem_of(const std::string& uri, const RecordFormat& format);

// `X.idx` for `X.rec`. Requires: as stem_of, and the format has an index.
std::string index_uri_of(const std::string& uri, const RecordFormat& format);

}  // namespace fuelrail::pack
