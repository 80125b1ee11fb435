// Reads the records of a file from front to back, for `convert` and `merge`.
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
  Bytes payload;  // valid until the next record is read
  uint32_t crc = 0;
  uint64_t framed_bytes = 0;      // in the file; 0 for a sample read by a schema
  std::optional<uint64_t> id{};   // the id in the record, which is the default key
  std::optional<uint64_t> key{};  // from the index or the sidecar, if one of them has it
  Bytes hints{};                  // of its image (RecordFile::hints); valid as `payload`
};

// Threads: one at a time.
class RecordStream {
 public:
  virtual ~RecordStream() = default;
  RecordStream& operator=(RecordStream&&) = delete;

  virtual uint64_t size() const = 0;

  // Whether every record's key is its number, counted from 0, because neither the index nor the
  // sidecar has a different key for it. Reads all keys. Errors: those of `read` for a key.
  virtual bool is_keyed_by_number() const { return true; }

  // Reads record i. Requires: i is 0 in the first call and increases by one from call to call.
  // Errors, with the file and the record: those of reading; CorruptError for a wrong checksum;
  // UnsupportedError for a record that is too long.
  StreamedRecord read(uint64_t i);

  // Call after the last record. Adds labels or fields, class names and other sections, but not
  // keys, to the new sidecar, in the order in which packing adds them. Errors: those of `read`.
  virtual void finish(SidecarWriter& to) = 0;

  // The splits that the file stores. Errors: those of RecordFile::splits.
  virtual std::vector<RecordSplit> splits() const { return {}; }

  // The file's sidecar; null if the records are samples of a schema. Lifetime: valid while the
  // stream exists.
  virtual const Sidecar* sidecar() const { return nullptr; }

 protected:
  // `max_payload_bytes`: the longest record that the output accepts.
  RecordStream(std::string uri, uint64_t max_payload_bytes)
      : uri_(std::move(uri)), max_payload_bytes_(max_payload_bytes) {}
  virtual StreamedRecord read_next(uint64_t i) = 0;
  uint64_t max_payload_bytes() const { return max_payload_bytes_; }

 private:
  std::string uri_;
  uint64_t max_payload_bytes_;
};

// Reads record i as it is stored. Sets its id if it is an image or sample record, and its key if
// the sidecar has keys. `storage` holds a payload that cannot be a view. No checksum is verified.
// Errors: those of the source; UnsupportedError, before memory is allocated, for a record that is
// too long.
StreamedRecord read_record(const RecordFile& file, uint64_t i, BlockReader& reader,
                           uint64_t max_payload_bytes, std::vector<std::byte>& storage);

// Errors: CorruptError if a sidecar beside the file was ignored, because the data that only the
// sidecar holds would be lost in a copy.
void require_sidecar_beside(const RecordFile& file);

// Streams the file's records and the data of its sidecar. `keys`: the keys in the file's index;
// empty if there is no index. Errors: CorruptError for a file without records, and if a sidecar
// beside the file was ignored, because the data that only the sidecar holds would be lost.
std::unique_ptr<RecordStream> stream_of(std::shared_ptr<const RecordFile> file,
                                        uint64_t max_payload_bytes,
                                        std::vector<uint64_t> keys = {});

// The block size for reading a file that is copied.
inline constexpr uint64_t kCopyBlockBytes = uint64_t{1} << 20;

}  // namespace fuelrail
