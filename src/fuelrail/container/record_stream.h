// The records of a file from front to back: what `convert` and `merge` copy.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/container/record_file.h"
#include "fuelrail/container/sidecar/sidecar.h"
#include "fuelrail/container/sidecar/sidecar_writer.h"
#include "fuelrail/storage/block_reader.h"

namespace fuelrail {

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
  RecordStream& operator=(RecordStream&&) = delete;

  virtual uint64_t size() const = 0;

  // Whether nothing besides the records says keys but their numbers, from 0, in their order. Looks
  // at all keys. Errors: those of `read` for a key.
  virtual bool is_keyed_by_number() const { return true; }

  // Requires: i is one more than before, from 0. Errors, with the file and the record: those of
  // reading; CorruptError for a wrong checksum; UnsupportedError for a record that is too long.
  StreamedRecord read(uint64_t i);

  // After the last record: tells the new sidecar what is known of all of them, but for their keys,
  // in the order in which packing does. Errors: as `read`.
  virtual void finish(SidecarWriter& to) = 0;

  // That of the file; null where the records are samples of a schema. Lifetime: the stream's.
  virtual const Sidecar* sidecar() const { return nullptr; }

 protected:
  // `max_payload_bytes`: how long a record may be where it goes.
  RecordStream(std::string uri, uint64_t max_payload_bytes)
      : uri_(std::move(uri)), max_payload_bytes_(max_payload_bytes) {}
  virtual StreamedRecord read_next(uint64_t i) = 0;
  uint64_t max_payload_bytes() const { return max_payload_bytes_; }

 private:
  std::string uri_;
  uint64_t max_payload_bytes_;
};

// A record of a file as it is: with its id where it is an image with labels, and its key where the
// sidecar has that. `storage`: for a payload that is not a view. No checksum is verified. Errors:
// the source's; UnsupportedError, before any memory is taken, for a record that is too long.
StreamedRecord read_record(const RecordFile& file, uint64_t i, BlockReader& reader,
                           uint64_t max_payload_bytes, std::vector<std::byte>& storage);

// A file's own records, and what its sidecar knows. `keys`: of an index; none where it has none.
// Errors: CorruptError for a file without records, and where a sidecar beside it was set aside:
// what only the sidecar knows would be lost.
std::unique_ptr<RecordStream> stream_of(std::shared_ptr<const RecordFile> file,
                                        uint64_t max_payload_bytes,
                                        std::vector<uint64_t> keys = {});

// Reads so much at once.
inline constexpr uint64_t kCopyBlockBytes = uint64_t{1} << 20;

}  // namespace fuelrail
