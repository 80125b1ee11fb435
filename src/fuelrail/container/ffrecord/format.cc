#include "fuelrail/container/ffrecord/format.h"

#include <fmt/format.h>

#include "fuelrail/container/ffrecord/ffrecord_container.h"
#include "fuelrail/container/ffrecord/file_writer.h"
#include "fuelrail/container/ffrecord/packed_folder.h"
#include "fuelrail/container/ffrecord/record_table.h"

namespace fuelrail::ffrecord {
namespace {

std::shared_ptr<const Container> open_as_schema(const std::string& uri,
                                                const OpenOptions& options) {
  if (options.schema == kClassFolders) return open_packed_images(uri, options);
  return open_ffrecord(uri, options);
}

std::unique_ptr<RecordStream> open_stream(const std::string& uri, uint64_t max_payload_bytes,
                                          const OpenOptions& options) {
  const auto file = open_ffrecord(uri, options);
  std::unique_ptr<RecordStream> stream = stream_of(file, max_payload_bytes);
  if (options.warn && file->packed_files()) {
    options.warn(fmt::format(
        "{}: this is a packed folder; its files, and the list of their names, are copied as plain "
        "bytes. With the schema '{}' they become images with labels",
        uri, kClassFolders));
  }
  return stream;
}

// The file itself says where its records are, and their checksums.
class Writer final : public RecordFileWriter {
 public:
  Writer(const RecordFileSinks& sinks, uint64_t expected)
      : records_(begin(sinks.data, expected)),
        first_offset_(table_bytes(expected)),
        sidecar_(sinks.sidecar) {}

  void append(Bytes payload, uint32_t crc, uint64_t) override {
    records_.append(payload, crc);
    sidecar_.add_length(payload.size());
  }
  std::optional<Bytes> payload_of(Bytes framed) override { return framed; }
  void adopt(uint64_t, uint64_t payload_bytes, uint32_t crc, uint64_t) override {
    records_.adopt(payload_bytes, crc);
    sidecar_.add_length(payload_bytes);
  }
  uint64_t first_offset() const override { return first_offset_; }
  void finish() override { records_.finish(); }

 private:
  static FileWriter begin(Sink& data, uint64_t expected) {
    if (data.position() >= table_bytes(expected) && data.position() > 0) {
      return {data, expected, FileWriter::AsLeft{}};
    }
    if (data.position() > 0) data.truncate(0);
    return {data, expected};
  }

  FileWriter records_;
  uint64_t first_offset_;
  SidecarWriter& sidecar_;
};

}  // namespace

constexpr FileFormat kFormat{
    .extension = ".ffr",
    .name = "FFRecord",
    .reader = "fuelrail.ffrecord.FileReader",
    .schema = {.name = kClassFolders,
               .meaning = "a packed folder (pack_folder) with one sub-folder a class",
               .reader = "fuelrail.ffrecord.PackedFolder"},
    .joined_in_folders = true,
    .max_payload_bytes = kDefaultMaxRecordBytes,
    .open = open_as_schema,
    .sidecar_recipe = sidecar_recipe,
    .make_writer = [](const RecordFileSinks& sinks, uint64_t expected)
        -> std::unique_ptr<RecordFileWriter> { return std::make_unique<Writer>(sinks, expected); },
    .open_stream = open_stream,
    .open_damaged = open_damaged,
};

}  // namespace fuelrail::ffrecord
