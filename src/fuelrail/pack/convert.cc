#include "fuelrail/pack/convert.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/ffrecord/ffrecord_container.h"
#include "fuelrail/container/image_record.h"
#include "fuelrail/container/recordio/block_reader.h"
#include "fuelrail/container/recordio/framing.h"
#include "fuelrail/container/recordio/index_file.h"
#include "fuelrail/container/recordio/record_reader.h"
#include "fuelrail/container/recordio/recordio_container.h"
#include "fuelrail/pack/part.h"
#include "fuelrail/pack/progress_reporter.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail {
namespace {

struct StreamedRecord {
  Bytes payload;  // valid until the next one
  uint32_t crc = 0;
  std::optional<uint64_t> key{};  // where something besides the record says it
};

// The records of a file from front to back.
class RecordStream {
 public:
  virtual ~RecordStream() = default;
  virtual uint64_t size() const = 0;
  virtual const Sidecar& sidecar() const = 0;

  // Requires: i is one more than before, from 0. Errors: those of `convert` for a record.
  virtual StreamedRecord read(uint64_t i) = 0;

  // After the last record. Errors: as `read`.
  virtual void finish() {}
};

// What only the sidecar knows must not be lost because it could not be read.
void require_sidecar_beside(const RecordFile& file) {
  const std::string beside = sidecar_uri(file.uri());
  if (file.sidecar_location().uri == beside || !file_system_for(beside).stat(beside)) return;
  throw CorruptError(
      "the sidecar cannot be used, and what only it knows would be lost",
      {.path = beside, .remedy = "Mend it, or move it away to convert the file without it"});
}

void verify(Bytes payload, uint32_t found, uint32_t expected) {
  if (found != expected) check_payload(payload, expected);
}

// --- RecordIO ---

// The keys of a `.idx`, one a record.
class IndexKeys {
 public:
  explicit IndexKeys(const std::string& uri)
      : uri_(uri), text_(file_system_for(uri).open(uri)->map()), entries_(text_.bytes, uri) {}

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
        {.path = uri_,
         .expected = "one entry a record, in their order, with a whole number below 2^64 as key",
         .found = line == 0 ? found : fmt::format("{} in line {}", found, line),
         .remedy =
             "Move the index away: the records' own ids, or their numbers, are the keys then"});
  }

  std::string uri_;
  MappedBytes text_;
  recordio::IndexReader entries_;
};

class RecordIoStream final : public RecordStream {
 public:
  RecordIoStream(const std::string& uri, const OpenOptions& options)
      : container_(recordio::open_recordio(uri, options)), reader_(container_->extent(0).source) {
    require_sidecar_beside(*container_);
    const std::string index_uri = index_uri_of(uri, record_format_of(uri));
    const auto index = file_system_for(index_uri).stat(index_uri);
    if (index && !index->is_directory) keys_.emplace(index_uri);
  }

  uint64_t size() const override { return container_->size(); }
  const Sidecar& sidecar() const override { return container_->sidecar(); }

  StreamedRecord read(uint64_t i) override {
    const RecordEntry entry = sidecar().record(i);
    const std::optional<recordio::Record> record = reader_.next();
    if (!record || record->offset != entry.offset || record->framed_bytes != entry.length) {
      throw CorruptError(
          "the record is not what the record table says",
          {.expected = fmt::format("{} bytes at {}", entry.length, entry.offset),
           .found = record ? fmt::format("{} bytes at {}", record->framed_bytes, record->offset)
                           : "the end of the file",
           .remedy = "Make a new sidecar with 'fuelrail index'"});
    }
    StreamedRecord streamed{.payload = record->payload, .crc = crc32(record->payload)};
    if (sidecar().has_checksums()) {
      verify(streamed.payload, streamed.crc, sidecar().payload_crc(i));
    }
    if (keys_) streamed.key = keys_->next(entry.offset);
    return streamed;
  }

  void finish() override {
    if (keys_) keys_->finish();
  }

 private:
  std::shared_ptr<const recordio::RecordIoContainer> container_;
  recordio::RecordReader reader_;
  std::optional<IndexKeys> keys_;
};

// --- FFRecord ---

class FfrecordStream final : public RecordStream {
 public:
  FfrecordStream(const std::string& uri, const OpenOptions& options)
      : container_(ffrecord::open_ffrecord(uri, options)) {
    require_sidecar_beside(*container_);
    if (size() == 0) {
      throw CorruptError("the file has no record",
                         {.path = uri, .remedy = "A RecordIO file must have one"});
    }
    source_ = container_->extent(0).source;
    reader_.emplace(*source_, kBlockBytes);
  }

  uint64_t size() const override { return container_->size(); }
  const Sidecar& sidecar() const override { return container_->sidecar(); }

  StreamedRecord read(uint64_t i) override {
    const ffrecord::RecordTable& table = container_->table();
    if (table.length(i) > recordio::kMaxPayloadBytes) {
      throw UnsupportedError(
          "the record is too long for a RecordIO file",
          {.expected = fmt::format("at most {} bytes", recordio::kMaxPayloadBytes),
           .found = fmt::to_string(table.length(i))});
    }
    StreamedRecord streamed{.payload = reader_->at(table.offset(i), table.length(i))};
    streamed.crc = crc32(streamed.payload);
    verify(streamed.payload, streamed.crc, table.crc(i));
    if (sidecar().has_keys()) streamed.key = sidecar().key(i);
    return streamed;
  }

 private:
  static constexpr uint64_t kBlockBytes = uint64_t{1} << 20;

  std::shared_ptr<const ffrecord::FfrecordContainer> container_;
  std::shared_ptr<const Source> source_;
  std::optional<recordio::BlockReader> reader_;
};

// --- Converting ---

template <typename Stream>
std::unique_ptr<RecordStream> open(const std::string& uri, const OpenOptions& options) {
  return std::make_unique<Stream>(uri, options);
}

struct Conversion {
  std::string_view from;
  std::string_view to;
  std::unique_ptr<RecordStream> (*open)(const std::string& uri, const OpenOptions& options);
};

constexpr std::array kConversions{
    Conversion{".rec", ".ffr", open<RecordIoStream>},
    Conversion{".ffr", ".rec", open<FfrecordStream>},
};

const Conversion& conversion_of(const std::string& source, const std::string& output) {
  const std::string_view from = record_format_of(source).extension;
  const std::string_view to = record_format_of(output).extension;
  for (const Conversion& conversion : kConversions) {
    if (conversion.from == from && conversion.to == to) return conversion;
  }
  throw InvalidArgumentError("source and output are of the same format",
                             {.path = output,
                              .expected = "an output of the other format",
                              .found = std::string(to),
                              .remedy = "Copy the file with its companions"});
}

// What the record says itself.
uint64_t own_key(Bytes payload, bool is_image_file, uint64_t i) {
  const bool has_header = is_image_file && payload.size() >= kImageHeaderBytes &&
                          image_prefix_bytes(payload) <= payload.size();
  return has_header ? parse_image_record(payload).id : i;
}

class Converter {
 public:
  Converter(RecordStream& from, Part& to) : from_(from), to_(to) {}

  void run(const std::string& source, const ConvertOptions& options) {
    ProgressReporter progress(options.progress, from_.size());
    for (uint64_t i = 0; i < from_.size(); ++i) {
      try {
        copy(i);
      } catch (Error& error) {
        const std::string& path = error.detail().path;
        if (path.empty() || path == source) error.add({.path = source, .record = i});
        throw;
      }
      progress.advance(i + 1, to_.bytes());
      progress.report_when_due();
    }
    from_.finish();
    progress.report();
    say_the_rest();
  }

 private:
  void copy(uint64_t i) {
    const StreamedRecord record = from_.read(i);
    const uint64_t own = own_key(record.payload, from_.sidecar().labels().has_value(), i);
    const uint64_t key = record.key.value_or(own);
    to_.append(record.payload, record.crc, key);
    if (to_.has_index()) return;
    keys_differ_ = keys_differ_ || key != own;
    keys_.push_back(key);
  }

  // In this order packing gives the same bytes.
  void say_the_rest() {
    if (from_.sidecar().labels()) to_.sidecar().set_labels(*from_.sidecar().labels());
    for (const SidecarSection& section : from_.sidecar().sections()) {
      if (!section.kept() || section.type() == kKeysSection) continue;
      to_.sidecar().add_section(section.type(), section.all(), true);
    }
    if (keys_differ_) to_.sidecar().set_keys(keys_);
  }

  RecordStream& from_;
  Part& to_;
  std::vector<uint64_t> keys_;  // where the output has no index
  bool keys_differ_ = false;
};

}  // namespace

PackResult::File convert(const std::string& source, const std::string& output,
                         const ConvertOptions& options) {
  const Conversion& conversion = conversion_of(source, output);
  if (!options.overwrite) refuse_existing(output);
  const std::unique_ptr<RecordStream> stream =
      conversion.open(source, {.warn = options.warn, .keep_going = options.keep_going});
  Part part(output, stream->size(), options.overwrite);
  Converter(*stream, part).run(source, options);
  part.finish();
  part.begin_commit();
  part.commit_companions();
  part.commit_data();
  return {part.uri(), part.records(), part.bytes()};
}

}  // namespace fuelrail
