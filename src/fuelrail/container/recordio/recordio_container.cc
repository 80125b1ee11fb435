#include "fuelrail/container/recordio/recordio_container.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/base/ranges.h"
#include "fuelrail/container/recordio/framing.h"
#include "fuelrail/container/recordio/index_file.h"
#include "fuelrail/container/recordio/index_keys.h"
#include "fuelrail/container/recordio/record_table.h"
#include "fuelrail/container/recordio/record_writer.h"
#include "fuelrail/storage/file_system.h"
#include "fuelrail/storage/read_batch.h"

namespace fuelrail::recordio {
namespace {

// A RecordIO file consists only of its records, so the table must cover the whole file.
void accept_sidecar(const Source& source, Bytes head, const Sidecar& sidecar) {
  if (!sidecar.has_table() || sidecar.records() == 0) {
    throw CorruptError("the sidecar has no record table", {.path = sidecar.uri()});
  }
  const RecordEntry last = sidecar.record(sidecar.records() - 1);
  if (sidecar.record(0).offset == 0 && last.offset + last.length == sidecar.identity().size_bytes) {
    return check_fields_known(sidecar, source, head, kHeadBytes, last.offset + kHeadBytes);
  }
  throw CorruptError(
      "the sidecar's record table does not cover the whole file",
      {.path = sidecar.uri(),
       .expected = fmt::format("bytes 0 to {}", sidecar.identity().size_bytes),
       .found = fmt::format("{} to {}", sidecar.record(0).offset, last.offset + last.length)});
}

// The number of records of which the file has the first `at_least` bytes (0: all bytes). Requires:
// accept_sidecar takes the table. Errors: CorruptError.
uint64_t records_within(const Sidecar& sidecar, uint64_t file_bytes, uint64_t at_least) {
  return first_index(sidecar.records(), [&](uint64_t i) {
    const RecordEntry entry = sidecar.record(i);
    return entry.offset + (at_least == 0 ? entry.length : at_least) > file_bytes;
  });
}

// Whether these bytes are the head of this record or of its first part.
bool is_head_of(Bytes head, const RecordEntry& entry) {
  const PartHead part(head.data());
  if (!part.valid() || !part.starts_record()) return false;
  const uint64_t bytes = kHeadBytes + part.padded_length();
  return part.ends_record() ? bytes == entry.length : bytes < entry.length;
}

// Whether any of a sample of records, spread over the file, has its head at the offset in the
// table.
bool has_record_in_place(const Sidecar& sidecar, const Source& source) {
  constexpr uint64_t kSampled = 16;
  if (!sidecar.has_table()) return false;
  const uint64_t records = records_within(sidecar, source.size_bytes(), kHeadBytes);
  const uint64_t sampled = std::min(records, kSampled);
  std::array<std::array<std::byte, kHeadBytes>, kSampled> heads;
  std::vector<RecordEntry> entries;
  std::vector<ReadRequest> requests;
  for (uint64_t k = 0; k < sampled; ++k) {
    const RecordEntry entry = sidecar.record(sampled == 1 ? 0 : k * (records - 1) / (sampled - 1));
    // In a false table, an entry may be anywhere.
    if (source.size_bytes() - kHeadBytes < entry.offset) continue;
    requests.push_back({.source = &source, .offset = entry.offset, .into = heads[entries.size()]});
    entries.push_back(entry);
  }
  read_all(requests);
  for (size_t k = 0; k < entries.size(); ++k) {
    if (is_head_of(heads[k], entries[k])) return true;
  }
  return false;
}

// `head`: the file's first bytes, if they are known. Lifetime: the rules refer to them.
SidecarRules rules_for(const std::shared_ptr<const Source>& source, Bytes head = {}) {
  return {
      .accept = [source, head](const Sidecar& sidecar) { accept_sidecar(*source, head, sidecar); },
      .agrees =
          [source](const Sidecar& sidecar, const ChangedEnds& changed) {
            try {
              return !changed.both() || has_record_in_place(sidecar, *source);
            } catch (const CorruptError&) {  // in the table itself
              return false;
            }
          },
      .first_missing =
          [source](const Sidecar& sidecar) {
            const uint64_t record = records_within(sidecar, source->size_bytes(), 0);
            return MissingRecord{record, sidecar.record(record).offset};
          }};
}

class OpenedRecordIo final : public RecordFile {
 public:
  // `gaps`: the table skips unreadable parts of the file.
  OpenedRecordIo(std::shared_ptr<const Source> source, StoredSidecar sidecar, bool gaps = false)
      : RecordFile(std::move(source), std::move(sidecar)), gaps_(gaps) {}

  uint64_t size() const override { return sidecar().records(); }

  Extent extent(uint64_t i) const override {
    const RecordEntry entry = this->entry(i);
    if (entry.length > kMaxFramedBytes) throw_too_long(i, entry);
    if (!sidecar().has_checksums() &&
        changed().touch(entry.offset, entry.length, source()->size_bytes())) {
      throw_changed(i, entry);
    }
    return {source(), entry.offset, entry.length};
  }

  Place place(uint64_t i) const override {
    try {
      return {uri(), i, sidecar().record(i).offset};
    } catch (const Error&) {
      return {uri(), i, 0};  // the table is damaged; reading the record throws
    }
  }

  bool verifies_checksums() const override { return sidecar().has_checksums(); }
  const char* format() const override { return "RecordIO"; }

  Bytes payload(uint64_t i, Bytes framed, std::vector<std::byte>& storage) const override {
    const RecordEntry entry = this->entry(i);
    const Unframed record = unframe(framed, storage, entry.offset);
    if (record.framed_bytes == entry.length && framed.size() == entry.length) return record.payload;
    throw CorruptError("the record's length differs from its length in the record table",
                       {.expected = fmt::format("{} bytes", entry.length),
                        .found = fmt::format("{}", record.framed_bytes),
                        .remedy = kNewSidecar});
  }

  std::optional<uint32_t> payload_crc(uint64_t i) const override {
    return sidecar().has_checksums() ? std::optional(sidecar().payload_crc(i)) : std::nullopt;
  }

  void check_companions(bool ignore_sidecar) const override {
    const std::string index = index_uri_of(uri(), kFormat);
    if (!is_file(index)) return;
    const IndexText text = read_index(*source(), index);
    const std::vector<IndexEntry> entries = parse_index(text.bytes, text.uri);
    resolve_index(entries, *this, text.uri);
    if (!ignore_sidecar) check_complete(entries.size(), *source(), index);
  }

 private:
  // The records of a RecordIO file follow each other without gaps, and so must the table's entries.
  // If an entry does not meet its neighbours, it or one of them is wrong.
  RecordEntry entry(uint64_t i) const {
    if (gaps_) return sidecar().record(i);
    std::array<RecordEntry, 3> entries;  // with its neighbours, if any
    const uint64_t first = i - std::min<uint64_t>(i, 1);
    const auto found = std::span(entries).first(std::min(i + 2, size()) - first);
    sidecar().read_records(first, found);
    const RecordEntry entry = found[i - first];
    const uint64_t begin = i == 0 ? 0 : entries[0].offset + entries[0].length;
    const uint64_t end = i + 1 < size() ? found.back().offset : sidecar().identity().size_bytes;
    if (entry.offset != begin || entry.offset + entry.length != end) {
      throw_lying(i, entry, begin, end);
    }
    return entry;
  }

  [[noreturn]] void throw_lying(uint64_t i, const RecordEntry& entry, uint64_t begin,
                                uint64_t end) const {
    throw CorruptError("records in the sidecar's record table overlap or have a gap between them",
                       {.path = sidecar().uri(),
                        .record = i,
                        .expected = fmt::format("bytes {} to {}", begin, end),
                        .found = fmt::format("{} to {}", entry.offset, entry.offset + entry.length),
                        .remedy = kNewSidecar});
  }

  [[noreturn]] void throw_changed(uint64_t i, const RecordEntry& entry) const {
    throw CorruptError(
        "the record may be damaged: it overlaps the first or last 4 KiB of the file, which changed "
        "after the sidecar was built, and the sidecar has no checksums",
        {.path = uri(),
         .record = i,
         .offset = entry.offset,
         .remedy = fmt::format("Restore the file; if the change was intended, remove {}",
                               sidecar().uri())});
  }

  Fingerprint make_fingerprint(const std::function<bool()>&) const override {
    return sidecar().fingerprint();
  }

  [[noreturn]] void throw_too_long(uint64_t i, const RecordEntry& entry) const {
    throw CorruptError("the record table says that the record is longer than RecordIO allows",
                       {.path = uri(),
                        .record = i,
                        .offset = entry.offset,
                        .expected = fmt::format("at most {} bytes", kMaxFramedBytes),
                        .found = fmt::format("{}", entry.length),
                        .remedy = "Build a new sidecar with 'fuelrail index'"});
  }

  bool gaps_;
};

// Reports the records that a truncated file has lost completely.
void report_missing(const Sidecar& sidecar, const Source& source,
                    const std::function<void(const Damage&)>& report) {
  const uint64_t end = source.size_bytes();
  const uint64_t missing = sidecar.records() - records_within(sidecar, end, 1);
  if (missing == 0) return;
  report({.path = source.uri(),
          .offset = end,
          .record = sidecar.records() - missing,
          .reason =
              fmt::format("the file is truncated: it ends before the start of {} of its {} records",
                          missing, sidecar.records())});
}

class Writer final : public RecordFileWriter {
 public:
  explicit Writer(const RecordFileSinks& sinks)
      : data_(sinks.data), records_(data_), index_(*sinks.index), sidecar_(sinks.sidecar) {}

  void append(Bytes payload, uint32_t crc, uint64_t key) override {
    const uint64_t offset = records_.append(payload);
    index_.add(key, offset);
    sidecar_.add_record({.offset = offset, .length = data_.position() - offset}, crc);
  }
  std::optional<Bytes> payload_of(Bytes framed) override {
    try {
      const Unframed record = unframe(framed, unframed_);
      if (record.framed_bytes != framed.size()) return std::nullopt;
      return record.payload;
    } catch (const CorruptError&) {
    } catch (const TruncatedError&) {
    }
    return std::nullopt;
  }
  void adopt(uint64_t framed_bytes, Bytes, uint32_t crc, uint64_t key) override {
    index_.add(key, adopted_);
    sidecar_.add_record({.offset = adopted_, .length = framed_bytes}, crc);
    adopted_ += framed_bytes;
  }
  uint64_t first_offset() const override { return 0; }
  void finish() override {}

 private:
  Sink& data_;
  std::vector<std::byte> unframed_;
  uint64_t adopted_ = 0;
  RecordWriter records_;
  IndexWriter index_;
  SidecarWriter& sidecar_;
};

}  // namespace

std::shared_ptr<const RecordFile> open_recordio(const std::string& uri,
                                                const OpenOptions& options) {
  const auto open = [&](const auto& source, SidecarStore& store) {
    std::optional<StoredSidecar> sidecar = store.find(rules_for(source, store.head()));
    if (!sidecar) {
      SidecarWriter scanned = scan_heads(*source, progress_of(options));
      if (options.ignore_sidecar) scanned.set_classes(options.classes);
      sidecar = store.publish(scanned);
    }
    return std::make_shared<const OpenedRecordIo>(source, *std::move(sidecar));
  };
  return open_with_store(uri, options.warn, open, options.ignore_sidecar);
}

std::unique_ptr<RecordStream> open_stream(const std::string& uri, uint64_t max_payload_bytes,
                                          const OpenOptions& options) {
  return until_not_replaced([&](Replaced replaced) {
    const std::shared_ptr<const RecordFile> file = open_recordio(uri, options);
    const std::string index = index_uri_of(uri, kFormat);
    std::vector<uint64_t> keys;
    if (is_file(index)) keys = keys_of(*file, read_index(*file->source(), index));
    check_still_named(*file->source(), replaced);
    return stream_of(file, max_payload_bytes, std::move(keys));
  });
}

Salvage open_damaged(const std::string& uri, const ReportDamage& report, const OpenOptions& options,
                     const ScanProgress& progress) {
  const auto open = [&](const auto& source, SidecarStore& store) -> Salvage {
    SidecarRules rules = rules_for(source, store.head());
    rules.accept = [accept = rules.accept](const Sidecar& sidecar) {
      accept(sidecar);
      sidecar.verify();
    };
    const std::optional<StoredSidecar> own = store.find(rules, CutFile::kUsed);
    const SidecarWriter table =
        recover_table(source, report, own ? own->sidecar.get() : nullptr, progress);
    if (own) report_missing(*own->sidecar, *source, report);
    Salvage salvage{.file = std::make_shared<const OpenedRecordIo>(
                        source, sidecar_in_memory(table, store.identity()), true)};
    std::string index = index_uri_of(uri, kFormat);
    if (own) {
      salvage.own = own->sidecar;
      salvage.records_before = own->sidecar->records();
      if (own->location.uri == next_uri(sidecar_uri(uri))) index = next_uri(index);
    }
    salvage.key = [index, warn = options.warn, keys = std::optional<KeysByOffset>()](
                      uint64_t offset, uint64_t wanted) mutable {
      if (!keys) keys.emplace(index, warn);  // lazily: `verify` needs no keys
      return keys->at(offset, wanted);
    };
    return salvage;
  };
  return open_with_store(uri, options.warn, open, options.ignore_sidecar);
}

SidecarRecipe sidecar_recipe(std::shared_ptr<const Source> source, const Warn&) {
  return {.rules = rules_for(source), .make = [source](const BuildSidecarOptions& options) {
            return options.checksums ? read_table(source, options.progress, options.hints)
                                     : scan_heads(*source, options.progress);
          }};
}

constexpr FileFormat kFormat{
    .extension = ".rec",
    .name = "RecordIO",
    .signature = {.bytes = "\x0A\x23\xD7\xCE"},
    .index_extension = ".idx",
    .damage_hides_rest = true,
    .max_payload_bytes = kMaxPayloadBytes,
    .open = [](const std::string& uri, const OpenOptions& options)
        -> std::shared_ptr<const Container> { return open_recordio(uri, options); },
    .sidecar_recipe = sidecar_recipe,
    .make_writer = [](const RecordFileSinks& sinks, uint64_t) -> std::unique_ptr<RecordFileWriter> {
      return std::make_unique<Writer>(sinks);
    },
    .open_stream = open_stream,
    .open_damaged = open_damaged,
};

}  // namespace fuelrail::recordio
