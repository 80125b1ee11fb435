// The records of a file from front to back: what `convert` and `merge` read. The table of formats
// is in record_stream.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "fuelrail/base/bytes.h"
#include "fuelrail/container/open.h"
#include "fuelrail/container/sidecar/sidecar.h"
#include "fuelrail/container/sidecar/sidecar_writer.h"

namespace fuelrail::pack {

struct StreamedRecord {
  Bytes payload;  // valid until the next one
  uint32_t crc = 0;
  uint64_t framed_bytes = 0;      // in the file; 0 for a sample of a schema
  std::optional<uint64_t> id{};   // the image's; its key, where nothing says another
  std::optional<uint64_t> key{};  // where something besides the record says it
};

// Threads: one at a time.
class RecordStream {
 public:
  virtual ~RecordStream() = default;
  RecordStream(const RecordStream&) = delete;
  RecordStream& operator=(const RecordStream&) = delete;

  virtual uint64_t size() const = 0;

  // Whether nothing besides the records says keys but their numbers, from 0, in their order. Looks
  // at all keys. Errors: those of `read` for a key.
  virtual bool is_keyed_by_number() const { return true; }

  // Requires: i is one more than before, from 0. Errors: those of `convert` for a record, with the
  // file and the record.
  StreamedRecord read(uint64_t i);

  // After the last record: tells the new sidecar what is known of all of them, but for their keys,
  // in the order in which packing does. Errors: as `read`.
  virtual void finish(SidecarWriter& to) = 0;

  // That of the file; null where the records are samples of a schema. Lifetime: the stream's.
  virtual const Sidecar* sidecar() const { return nullptr; }

 protected:
  explicit RecordStream(std::string uri) : uri_(std::move(uri)) {}
  virtual StreamedRecord read_next(uint64_t i) = 0;

 private:
  std::string uri_;
};

// With a schema the records are the samples that it makes of the file, as image records; without
// one they are the file's own. `output`: where they go, whose format says how long they may be.
// Errors: those of `convert` for the source.
std::unique_ptr<RecordStream> open_record_stream(const std::string& source,
                                                 const std::string& output,
                                                 const OpenOptions& options);

}  // namespace fuelrail::pack
