#include "fuelrail/pack/output/record_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/ffrecord/ffrecord_container.h"
#include "fuelrail/container/ffrecord/packed_folder.h"
#include "fuelrail/container/image_record.h"
#include "fuelrail/container/recordio/index_file.h"
#include "fuelrail/container/recordio/record_reader.h"
#include "fuelrail/container/recordio/recordio_container.h"
#include "fuelrail/container/sidecar/sidecar_store.h"
#include "fuelrail/container/sidecar/sidecar_writer.h"
#include "fuelrail/pack/image/image_reader.h"
#include "fuelrail/pack/output/part.h"
#include "fuelrail/pack/output/record_format.h"
#include "fuelrail/pack/source/open_input.h"
#include "fuelrail/pack/source/pack_source.h"
#include "fuelrail/storage/block_reader.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::pack {
namespace {

// What only the sidecar knows must not be lost because it could not be read.
void require_sidecar_beside(const RecordFile& file) {
  const std::string beside = sidecar_uri(file.uri());
  if (file.sidecar_location().place == SidecarPlace::kBeside) return;
  if (!file_system_for(beside).stat(beside)) return;
  throw CorruptError(
      "the sidecar cannot be used, and what only it knows would be lost",
      {.path = beside, .remedy = "Mend it, or move it away to convert the file without it"});
}

// A file's own records, and what stands in its sidecar.
class RecordFileStream : public RecordStream {
 public:
  using RecordStream::RecordStream;
  uint64_t size() const override { return file().size(); }

  void finish(SidecarWriter& to) override {
    if (known().labels()) to.set_labels(*known().labels());
    for (const SidecarSection& section : known().sections()) {
      if (!section.kept() || section.type() == kKeysSection) continue;
      to.add_section(section.type(), section.all(), true);
    }
  }

  const Sidecar* sidecar() const override { return &known(); }

 protected:
  virtual const RecordFile& file() const = 0;
  const Sidecar& known() const { return file().sidecar(); }

  StreamedRecord read_as(uint64_t i, Bytes payload) const {
    const bool is_image = known().labels().has_value() && has_image_prefix(payload);
    StreamedRecord record{
        .payload = payload, .crc = crc32(payload), .framed_bytes = file().extent(i).length};
    if (is_image) record.id = parse_image_record(payload).id;
    return record;
  }
};

// --- RecordIO ---

// The keys of a `.idx`, one a record.
class IndexKeys {
 public:
  explicit IndexKeys(recordio::IndexText index)
      : index_(std::make_shared<const recordio::IndexText>(std::move(index))),
        entries_(index_->bytes, index_->uri) {}

  // From the first one on.
  IndexKeys again() const { return IndexKeys(index_); }

  uint64_t next(uint64_t record_offset) {
    const std::optional<recordio::IndexEntry> entry = entries_.next();
    if (!entry) refuse("it ends before the records do", 0);
    if (entry->offset != record_offset) refuse("another record, or none", entry->line);
    uint64_t key = 0;
    const char* end = entry->key.data() + entry->key.size();
    const auto parsed = std::from_chars(entry->key.data(), end, key);
    if (parsed.ec != std::errc() || parsed.ptr != end || fmt::to_string(key) != entry->key) {
      refuse(fmt::format("the key {:?}", entry->key.substr(0, 60)), entry->line);
    }
    return key;
  }

  void finish() {
    if (const auto entry = entries_.next()) refuse("more entries than records", entry->line);
  }

 private:
  [[noreturn]] void refuse(const std::string& found, uint64_t line) const {
    throw UnsupportedError(
        "the index cannot be kept",
        {.path = index_->uri,
         .expected = "one entry a record, in their order, with a whole number below 2^64 as key",
         .found = line == 0 ? found : fmt::format("{} in line {}", found, line),
         .remedy =
             "Move the index away: the records' own ids, or their numbers, are the keys then"});
  }

  explicit IndexKeys(std::shared_ptr<const recordio::IndexText> index)
      : index_(std::move(index)), entries_(index_->bytes, index_->uri) {}

  std::shared_ptr<const recordio::IndexText> index_;
  recordio::IndexReader entries_;
};

class RecordIoStream final : public RecordFileStream {
 public:
  RecordIoStream(const std::string& uri, const RecordFormat&, const OpenOptions& options)
      : RecordIoStream(uri, until_not_replaced([&](Replaced replaced) {
                         return open_indexed(uri, options, replaced);
                       })) {}

  bool is_keyed_by_number() const override {
    if (!keys_) return true;
    IndexKeys keys = keys_->again();
    for (uint64_t i = 0; i < size(); ++i) {
      if (keys.next(known().record(i).offset) != i) return false;
    }
    return true;
  }

  StreamedRecord read_next(uint64_t i) override {
    const RecordEntry entry = known().record(i);
    const std::optional<recordio::Record> record = reader_.next();
    if (!record || record->offset != entry.offset || record->framed_bytes != entry.length) {
      throw CorruptError(
          "the record is not what the record table says",
          {.expected = fmt::format("{} bytes at {}", entry.length, entry.offset),
           .found = record ? fmt::format("{} bytes at {}", record->framed_bytes, record->offset)
                           : "the end of the file",
           .remedy = "Make a new sidecar with 'fuelrail index'"});
    }
    StreamedRecord streamed = read_as(i, record->payload);
    if (known().has_checksums()) check_record_crc(streamed.crc, known().payload_crc(i));
    if (keys_) streamed.key = keys_->next(entry.offset);
    return streamed;
  }

  void finish(SidecarWriter& to) override {
    if (keys_) keys_->finish();
    RecordFileStream::finish(to);
  }

 private:
  struct Opened {
    std::shared_ptr<const recordio::RecordIoContainer> container{};
    std::shared_ptr<const Source> source{};
    std::optional<IndexKeys> keys{};
  };
  RecordIoStream(const std::string& uri, Opened opened)
      : RecordFileStream(uri),
        container_(std::move(opened.container)),
        reader_(std::move(opened.source)),
        keys_(std::move(opened.keys)) {}

  static Opened open_indexed(const std::string& uri, const OpenOptions& options,
                             Replaced replaced) {
    Opened opened{.container = recordio::open_recordio(uri, options)};
    require_sidecar_beside(*opened.container);
    opened.source = opened.container->extent(0).source;
    const std::string index_uri = index_uri_of(uri, record_format_of(uri));
    if (is_file(index_uri)) opened.keys.emplace(recordio::read_index(*opened.source, index_uri));
    check_still_named(*opened.source, replaced);
    return opened;
  }

  const RecordFile& file() const override { return *container_; }

  std::shared_ptr<const recordio::RecordIoContainer> container_;
  recordio::RecordReader reader_;
  std::optional<IndexKeys> keys_;
};

// --- FFRecord ---

class FfrecordStream final : public RecordFileStream {
 public:
  FfrecordStream(const std::string& uri, const RecordFormat& to, const OpenOptions& options)
      : RecordFileStream(uri),
        to_(to),
        container_(ffrecord::open_ffrecord(uri, options)),
        reader_(*container_->source(), kBlockBytes) {
    require_sidecar_beside(*container_);
    if (size() == 0) {
      throw CorruptError("the file has no record",
                         {.path = uri, .remedy = "A RecordIO file must have one"});
    }
    if (options.warn && ffrecord::is_packed_folder(*container_->source(), container_->table())) {
      options.warn(
          uri +
          ": this is a packed folder; its files, and the list of their names, are copied as "
          "plain bytes. With the schema 'class_folders' they become images with labels");
    }
  }

  bool is_keyed_by_number() const override {
    for (uint64_t i = 0; known().has_keys() && i < size(); ++i) {
      if (known().key(i) != i) return false;
    }
    return true;
  }

  StreamedRecord read_next(uint64_t i) override {
    const ffrecord::RecordTable& table = container_->table();
    check_payload_bytes(table.length(i), to_);
    StreamedRecord streamed = read_as(i, reader_.at(table.offset(i), table.length(i)));
    check_record_crc(streamed.crc, table.crc(i));
    if (known().has_keys()) streamed.key = known().key(i);
    return streamed;
  }

 private:
  const RecordFile& file() const override { return *container_; }

  static constexpr uint64_t kBlockBytes = uint64_t{1} << 20;

  const RecordFormat& to_;
  std::shared_ptr<const ffrecord::FfrecordContainer> container_;
  BlockReader reader_;
};

// --- Samples of a schema ---

// Images become image records, as `pack` makes them of the files themselves.
class ImagesStream final : public RecordStream {
 public:
  ImagesStream(const std::string& uri, const RecordFormat&, const OpenOptions& options)
      : RecordStream(uri), source_(source_of_images(open_input(uri, options))) {}

  uint64_t size() const override { return source_->size(); }

  StreamedRecord read_next(uint64_t i) override {
    source_->read(i, image_);
    packed_.payload.clear();
    fill_payload(image_, image_.encoded.bytes, packed_);
    labels_.add(parse_image_record(packed_.payload).labels);
    return {.payload = packed_.payload, .crc = packed_.crc, .id = image_.id};
  }

  void finish(SidecarWriter& to) override {
    to.set_labels(labels_.summary());
    to.set_classes(source_->classes());
  }

 private:
  std::unique_ptr<PackSource> source_;
  SourceImage image_;
  PackedImage packed_;
  LabelTally labels_;
};

// --- Which it is ---

template <typename Stream>
std::unique_ptr<RecordStream> open(const std::string& uri, const RecordFormat& to,
                                   const OpenOptions& options) {
  return std::make_unique<Stream>(uri, to, options);
}

struct StreamFormat {
  std::string_view extension;
  std::unique_ptr<RecordStream> (*open)(const std::string& uri, const RecordFormat& to,
                                        const OpenOptions& options);
};

constexpr std::array kStreamFormats{
    StreamFormat{".rec", open<RecordIoStream>},
    StreamFormat{".ffr", open<FfrecordStream>},
};

}  // namespace

StreamedRecord RecordStream::read(uint64_t i) {
  try {
    return read_next(i);
  } catch (Error& error) {
    const std::string& path = error.detail().path;
    if (path.empty() || path == uri_) error.add({.path = uri_, .record = i});
    throw;
  }
}

std::unique_ptr<RecordStream> open_record_stream(const std::string& source,
                                                 const std::string& output,
                                                 const OpenOptions& options) {
  const std::string_view extension = record_format_of(source).extension;
  const RecordFormat& to = record_format_of(output);
  if (!options.schema.empty()) return open<ImagesStream>(source, to, options);
  return std::find_if(kStreamFormats.begin(), kStreamFormats.end(),
                      [&](const StreamFormat& format) { return format.extension == extension; })
      ->open(source, to, options);
}

}  // namespace fuelrail::pack
