#include "fuelrail/container/record_stream.h"

#include <fmt/format.h>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/formats.h"
#include "fuelrail/container/payload.h"
#include "fuelrail/container/sidecar/sidecar_store.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail {
namespace {

void check_payload_bytes(uint64_t bytes, uint64_t max_payload_bytes, const std::string& uri) {
  if (bytes <= max_payload_bytes) return;
  const FileFormat* format = find_format(uri);
  const bool has_reader = format != nullptr && !format->reader.empty();
  throw UnsupportedError(
      "the record is too long for the output",
      {.expected = fmt::format("at most {} bytes", max_payload_bytes),
       .found = fmt::to_string(bytes),
       .remedy = has_reader ? fmt::format("Copy the record with {}", format->reader) : ""});
}

class RecordFileStream final : public RecordStream {
 public:
  RecordFileStream(std::shared_ptr<const RecordFile> file, uint64_t max_payload_bytes,
                   std::vector<uint64_t> keys)
      : RecordStream(file->uri(), max_payload_bytes),
        file_(std::move(file)),
        keys_(std::move(keys)),
        reader_(*file_->source(), kCopyBlockBytes) {}

  uint64_t size() const override { return file_->size(); }
  const Sidecar* sidecar() const override { return &file_->sidecar(); }
  std::vector<RecordSplit> splits() const override { return file_->splits(); }

  bool is_keyed_by_number() const override {
    const bool in_sidecar = keys_.empty() && sidecar()->has_keys();
    for (uint64_t i = 0; i < (in_sidecar ? size() : keys_.size()); ++i) {
      if ((in_sidecar ? sidecar()->key(i) : keys_[i]) != i) return false;
    }
    return true;
  }

  StreamedRecord read_next(uint64_t i) override {
    StreamedRecord record = read_record(*file_, i, reader_, max_payload_bytes(), storage_);
    if (const auto crc = file_->payload_crc(i)) check_record_crc(record.crc, *crc);
    file_->check_record(i, record.payload, true);
    if (!keys_.empty()) record.key = keys_[i];
    record.hints = file_->hints(i, record.crc, hints_).value_or(Bytes());
    return record;
  }

  void finish(SidecarWriter& to) override {
    to.set_payloads(sidecar()->payloads());
    to.keep_sections_of(*sidecar(), kKeysSection);
  }

 private:
  std::shared_ptr<const RecordFile> file_;
  std::vector<uint64_t> keys_;
  BlockReader reader_;
  std::vector<std::byte> storage_;
  std::vector<std::byte> hints_;
};

}  // namespace

StreamedRecord RecordStream::read(uint64_t i) {
  try {
    StreamedRecord record = read_next(i);
    check_payload_bytes(record.payload.size(), max_payload_bytes_, uri_);
    return record;
  } catch (Error& error) {
    const std::string& path = error.detail().path;
    if (path.empty() || path == uri_) error.add({.path = uri_, .record = i});
    throw;
  }
}

StreamedRecord read_record(const RecordFile& file, uint64_t i, BlockReader& reader,
                           uint64_t max_payload_bytes, std::vector<std::byte>& storage) {
  const Sidecar& known = file.sidecar();
  const Extent extent = file.record_extent(i);
  if (file.has_long_records()) check_payload_bytes(extent.length, max_payload_bytes, file.uri());
  const Bytes payload = file.payload(i, reader.at(extent.offset, extent.length), storage);
  StreamedRecord record{.payload = payload, .crc = crc32(payload), .framed_bytes = extent.length};
  record.id = payload_id(known.payloads(), payload);
  if (known.has_keys()) record.key = known.key(i);
  return record;
}

void require_sidecar_beside(const RecordFile& file) {
  const std::string beside = sidecar_uri(file.uri());
  if (file.sidecar_location().place == SidecarPlace::kBeside || !is_file(beside)) return;
  throw CorruptError(
      "the sidecar cannot be used, but it may hold data that the file does not have",
      {.path = beside,
       .remedy =
           "Restore the sidecar, or move it away to copy the file without the sidecar's data"});
}

std::unique_ptr<RecordStream> stream_of(std::shared_ptr<const RecordFile> file,
                                        uint64_t max_payload_bytes, std::vector<uint64_t> keys) {
  require_sidecar_beside(*file);
  if (file->size() == 0) {
    throw CorruptError("the file has no records",
                       {.path = file->uri(), .remedy = "Choose a file that has records"});
  }
  return std::make_unique<RecordFileStream>(std::move(file), max_payload_bytes, std::move(keys));
}

}  // namespace fuelrail
