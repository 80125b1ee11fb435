#include "fuelrail/container/ffrecord/ffrecord_container.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/ffrecord/file_reader.h"
#include "fuelrail/container/ffrecord/file_writer.h"
#include "fuelrail/container/ffrecord/packed_folder.h"
#include "fuelrail/container/ffrecord/record_pieces.h"
#include "fuelrail/container/ffrecord/record_scan.h"
#include "fuelrail/container/fingerprint.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::ffrecord {
namespace {

// The total length of the records in a file of `file_bytes`, which ends with the last record.
uint64_t record_bytes(const RecordTable& table, uint64_t file_bytes) {
  return table.size() == 0 ? 0 : file_bytes - table.offset(0);
}

std::string totals(uint64_t records, uint64_t bytes) {
  return fmt::format("{} record{} with {} byte{} in total", records, records == 1 ? "" : "s", bytes,
                     bytes == 1 ? "" : "s");
}

void accept_sidecar(const Source& source, Bytes head, const RecordTable& table,
                    const Sidecar& sidecar) {
  const Fingerprint& found = sidecar.fingerprint();
  const uint64_t bytes = record_bytes(table, sidecar.identity().size_bytes);
  if (found.records == table.size() && found.bytes == bytes) {
    if (table.size() == 0) return;
    return check_fields_known(sidecar, source, head, table.offset(0),
                              table.offset(table.size() - 1));
  }
  throw CorruptError("the sidecar does not match the file's record table",
                     {.path = sidecar.uri(),
                      .expected = totals(table.size(), bytes),
                      .found = totals(found.records, found.bytes)});
}

// The fingerprint of the file if it has `file_bytes` bytes, which may be its size before damage:
// the last record ends with the file.
Fingerprint fingerprint_of(const RecordTable& table, uint64_t file_bytes) {
  FingerprintBuilder builder;
  for (uint64_t i = 0; i + 1 < table.size(); ++i) builder.add(table.length(i));
  if (table.size() > 0) builder.add(file_bytes - table.offset(table.size() - 1));
  return builder.result();
}

bool is_sound(const Source& source, const RecordTable& table, uint64_t i, MutableBytes piece) {
  RecordPieces pieces(source, table, i);
  try {
    while (!pieces.next(piece).empty()) {
    }
    return true;
  } catch (const CorruptError&) {
    return false;
  }
}

// Whether a record that overlaps this end of the file is damaged or truncated. A record too long to
// be read for this check counts as damaged.
bool has_damage(const Source& source, const RecordTable& table, const ChangedEnds& end) {
  constexpr uint64_t kMaxReadBytes = uint64_t{256} << 20;
  std::vector<std::byte> piece(size_t{1} << 20);
  for (uint64_t i = 0; i < table.size(); ++i) {
    const uint64_t offset = table.offset(i);
    const uint64_t length = table.length(i);
    if (!end.touch(offset, length, source.size_bytes())) continue;
    const bool readable = length <= kMaxReadBytes && offset + length <= source.size_bytes();
    if (!readable || !is_sound(source, table, i, piece)) return true;
  }
  return false;
}

// The checksum of the table is at the file's beginning, and the table holds those of the records.
// If the table is intact and an end has changed, then either a record there is damaged or this is a
// different file.
bool is_same_file(const Source& source, const RecordTable& table, const Sidecar& sidecar,
                  const ChangedEnds& changed) {
  if (table.size() == 0) return false;
  if (table.has_checksum() && !changed.first) return true;
  if (!table.has_checksum() && !changed.both()) return true;
  if (fingerprint_of(table, sidecar.identity().size_bytes) != sidecar.fingerprint()) return false;
  if (!table.has_checksum()) return true;
  return has_damage(source, table, {.first = true}) &&
         (!changed.last || has_damage(source, table, {.last = true}));
}

void check_whole(const RecordTable& table, uint64_t i, Bytes payload) {
  const uint64_t length = table.length(i);
  if (payload.size() == length) return;
  const ErrorDetail detail{.expected = fmt::format("{} bytes", length),
                           .found = fmt::format("{}", payload.size())};
  if (payload.size() < length) throw TruncatedError("the record is truncated", detail);
  throw CorruptError("the record is longer than the record table says", detail);
}

class OpenedFfrecord final : public FfrecordContainer {
 public:
  // `records`: the number of records in the table that the file has completely.
  OpenedFfrecord(std::shared_ptr<const Source> source, RecordTable table, StoredSidecar sidecar,
                 uint64_t records)
      : FfrecordContainer(std::move(source), std::move(sidecar)),
        table_(std::move(table)),
        records_(records) {}

  uint64_t size() const override { return records_; }
  Extent extent(uint64_t i) const override { return extent_of(source(), table_, i); }
  Place place(uint64_t i) const override { return {uri(), i, table_.offset(i)}; }
  const char* format() const override { return "FFRecord"; }
  bool verifies_checksums() const override { return true; }
  const RecordTable& table() const override { return table_; }

  Bytes payload(uint64_t i, Bytes framed, std::vector<std::byte>&) const override {
    check_whole(table_, i, framed);
    return framed;
  }
  std::optional<uint32_t> payload_crc(uint64_t i) const override { return table_.crc(i); }

  bool has_long_records() const override { return true; }
  void read_pieces(uint64_t i, MutableBytes buffer,
                   const std::function<void(Bytes piece)>& take) const override {
    RecordPieces pieces(*source(), table_, i);
    for (Bytes piece = pieces.next(buffer); !piece.empty(); piece = pieces.next(buffer)) {
      take(piece);
    }
  }

  std::optional<uint64_t> packed_files() const override {
    return is_packed_folder(*source(), table_) ? std::optional(size() - 1) : std::nullopt;
  }

 private:
  Fingerprint make_fingerprint(const std::function<bool()>&) const override {
    return fingerprint_of(table_, table_.file_bytes());
  }

  RecordTable table_;
  uint64_t records_;
};

}  // namespace

// The table holds the offset of each record. A file that was cut after the last offset therefore
// lacks only a part of the last record.
SidecarRules sidecar_rules(const Source& source, const RecordTable& table, Bytes head) {
  return {.accept = [&source, &table, head](
                        const Sidecar& sidecar) { accept_sidecar(source, head, table, sidecar); },
          .agrees =
              [&source, &table](const Sidecar& sidecar, const ChangedEnds& changed) {
                return is_same_file(source, table, sidecar, changed);
              },
          .first_missing =
              [&table](const Sidecar&) {
                return MissingRecord{table.size() - 1, table.offset(table.size() - 1)};
              }};
}

void check_record(const RecordTable& table, uint64_t i, Bytes payload) {
  check_whole(table, i, payload);
  check_record_crc(crc32(payload), table.crc(i));
}

Extent extent_of(const std::shared_ptr<const Source>& source, const RecordTable& table,
                 uint64_t i) {
  const uint64_t length = table.length(i);
  if (length > kMaxRecordBytes) {
    throw CorruptError("according to the record table, the record is too long",
                       {.path = source->uri(),
                        .record = i,
                        .offset = table.offset(i),
                        .expected = fmt::format("at most {} bytes", kMaxRecordBytes),
                        .found = fmt::format("{}", length)});
  }
  return {source, table.offset(i), length};
}

std::shared_ptr<const FfrecordContainer> open_ffrecord(const std::string& uri,
                                                       const OpenOptions& options) {
  const auto open = [&](const auto& source, SidecarStore& store) {
    RecordTable table = RecordTable::read(*source, true, options.warn, store.head());
    std::optional<StoredSidecar> sidecar;
    const bool is_empty = table.size() == 0;  // so there is nothing to store
    if (!is_empty) sidecar = store.find(sidecar_rules(*source, table, store.head()));
    if (!sidecar) {
      SidecarWriter scanned =
          is_empty ? SidecarWriter() : scan_records(*source, table, progress_of(options));
      if (options.ignore_sidecar) scanned.set_classes(options.classes);
      sidecar = is_empty ? sidecar_in_memory(scanned, store.identity()) : store.publish(scanned);
    }
    const uint64_t records = table.size();
    return std::make_shared<const OpenedFfrecord>(source, std::move(table), *std::move(sidecar),
                                                  records);
  };
  return open_with_store(uri, options.warn, open, options.ignore_sidecar);
}

Salvage open_damaged(const std::string& uri, const ReportDamage& report, const OpenOptions& options,
                     const ScanProgress& progress) {
  std::optional<Damage> cut;  // of the last opened file, if it was replaced meanwhile
  const auto open = [&](const auto& source, SidecarStore& store) -> Salvage {
    RecordTable table = RecordTable::read_of_cut_file(*source, options.warn);
    const auto own = store.find(sidecar_rules(*source, table, store.head()), CutFile::kUsed);
    const uint64_t before = table.size();
    const uint64_t bytes = source->size_bytes();
    uint64_t left = 0;
    while (left < before && table.offset(left) + table.length(left) <= bytes) ++left;
    cut.reset();
    if (left < before) {
      const uint64_t offset = std::min(table.offset(left), bytes);
      cut = {uri, offset, bytes - offset, left,
             fmt::format("the file is truncated: it ends before the end of {} of its {} records",
                         before - left, before)};
    }
    StoredSidecar used =
        own ? *own
            : sidecar_in_memory(scan_records(*source, table, progress, left), store.identity());
    return {.file = std::make_shared<const OpenedFfrecord>(source, std::move(table),
                                                           std::move(used), left),
            .own = own ? own->sidecar : nullptr,
            .records_before = before};
  };
  Salvage salvage = open_with_store(uri, options.warn, open, options.ignore_sidecar);
  if (cut) report(*cut);
  return salvage;
}

namespace {

// Returns: the records' hints. Errors: that of the first record that does not match the table;
// StateError.
HintsBuilder verify_records(const std::string& uri, const RecordTable& table,
                            const ScanProgress& progress, const HintOptions& hints) {
  const uint64_t total = table.file_bytes();
  const auto tell = [&](uint64_t records) {
    return !progress || progress(records < table.size() ? table.offset(records) : total, total);
  };
  if (progress && !progress(0, total)) throw_interrupted(uri);
  const FileReader reader({uri}, {.check_data = false});
  HintWorkers hint_workers(hints);
  reader.verify([](uint64_t, const std::exception_ptr& error) { std::rethrow_exception(error); },
                tell, [&](uint64_t i, Bytes record) { hint_workers.add(i, record, table.crc(i)); });
  return hint_workers.finish();
}

}  // namespace

SidecarRecipe sidecar_recipe(std::shared_ptr<const Source> source, const Warn& warn) {
  auto table = std::make_shared<const RecordTable>(RecordTable::read(*source, true, warn));
  return {.rules = sidecar_rules(*source, *table),
          .file_has_checksums = true,
          .make = [source, table](const BuildSidecarOptions& options) {
            if (!options.checksums) return scan_records(*source, *table, options.progress);
            HintsBuilder hints =
                verify_records(source->uri(), *table, options.progress, options.hints);
            SidecarWriter sidecar = scan_records(*source, *table, [&](uint64_t, uint64_t total) {
              return !options.progress || options.progress(total, total);
            });
            sidecar.hints() = std::move(hints);
            return sidecar;
          }};
}

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
        "{}: this is a packed folder; its files and its list of file names are copied as plain "
        "bytes. To read the files as images with labels, use the schema '{}'",
        uri, kClassFolders));
  }
  return stream;
}

// The file itself holds offsets and checksums, so the sidecar only gets the lengths.
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
  void adopt(uint64_t, Bytes payload, uint32_t crc, uint64_t) override {
    records_.adopt(payload.size(), crc);
    sidecar_.add_length(payload.size());
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
               .meaning = "a packed folder (pack_folder) with one sub-folder per class",
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
