// A record format only for tests, with all parts that a container needs. It is not in the table of
// formats; a test adds its row with LentFormat. A file is "INV1", then for each record: length u32,
// CRC-32 u32, payload.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/formats.h"
#include "fuelrail/container/payload.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::invented {

inline constexpr std::string_view kMagic = "INV1";
inline constexpr uint64_t kHeadBytes = 8;

// The payload of one framed record. Errors: TruncatedError.
inline Bytes unframe(Bytes framed) {
  if (framed.size() < kHeadBytes || framed.size() - kHeadBytes < load_le<uint32_t>(framed.data())) {
    throw TruncatedError("the record is truncated");
  }
  return framed.subspan(kHeadBytes, load_le<uint32_t>(framed.data()));
}

// The record table and the kind of the records. Skips damaged records if `report` is given. Errors:
// CorruptError; TruncatedError.
inline SidecarWriter scan(const Source& source, const ReportDamage& report = {}) {
  const std::vector<std::byte> file = read_whole(source);
  if (!as_text(file).starts_with(kMagic)) throw CorruptError("the file does not begin with INV1");
  SidecarWriter table;
  PayloadTally tally;
  for (uint64_t at = kMagic.size(), i = 0; at < file.size(); ++i) {
    try {
      const Bytes payload = unframe(Bytes(file).subspan(at));
      const RecordEntry entry{at, kHeadBytes + payload.size()};
      at += entry.length;
      if (report && crc32(payload) != load_le<uint32_t>(&file[entry.offset + 4])) {
        report({source.uri(), entry.offset, entry.length, i, "the record's checksum is wrong"});
        continue;
      }
      table.add_record(entry, load_le<uint32_t>(&file[entry.offset + 4]));
      tally.add(payload);
    } catch (TruncatedError& error) {
      error.add({.path = source.uri(), .record = i, .offset = at});
      if (!report) throw;
      report({source.uri(), at, file.size() - at, i, error.failure()});
      break;
    }
  }
  table.set_payloads(tally.kind());
  return table;
}

class File : public RecordFile {
 public:
  File(std::shared_ptr<const Source> source, StoredSidecar sidecar)
      : RecordFile(std::move(source), std::move(sidecar)) {}

  uint64_t size() const override { return sidecar().records(); }
  Extent extent(uint64_t i) const override {
    const RecordEntry entry = sidecar().record(i);
    return {source(), entry.offset, entry.length};
  }
  Place place(uint64_t i) const override { return {uri(), i, sidecar().record(i).offset}; }
  const char* format() const override { return "Invented"; }
  bool verifies_checksums() const override { return true; }
  Bytes payload(uint64_t, Bytes framed, std::vector<std::byte>&) const override {
    return unframe(framed);
  }
  std::optional<uint32_t> payload_crc(uint64_t i) const override {
    return sidecar().payload_crc(i);
  }

 private:
  Fingerprint make_fingerprint(const std::function<bool()>&) const override {
    return sidecar().fingerprint();
  }
};

inline SidecarRecipe sidecar_recipe(std::shared_ptr<const Source> source,
                                    const std::function<void(const std::string&)>&) {
  return {.rules = {.accept = [](const Sidecar&) {}},
          .make = [source](const BuildSidecarOptions&) { return scan(*source); }};
}

template <typename Opened = File>
std::shared_ptr<const RecordFile> open_file(const std::string& uri, const OpenOptions& options) {
  const auto open = [&](const auto& source, SidecarStore& store) {
    std::optional<StoredSidecar> sidecar = store.find(sidecar_recipe(source, {}).rules);
    if (!sidecar) sidecar = store.publish(scan(*source));
    return std::make_shared<const Opened>(source, *std::move(sidecar));
  };
  return open_with_store(uri, options.warn, open, options.ignore_sidecar);
}

inline Salvage open_damaged(const std::string& uri, const ReportDamage& report, const OpenOptions&,
                            const ScanProgress&) {
  const std::shared_ptr<const Source> source = file_system_for(uri).open(uri);
  return {.file = std::make_shared<const File>(
              source, sidecar_in_memory(scan(*source, report), identify(*source)))};
}

class Writer : public RecordFileWriter {
 public:
  explicit Writer(const RecordFileSinks& sinks) : data_(sinks.data), sidecar_(sinks.sidecar) {
    if (data_.position() == 0) data_.write(as_bytes(kMagic));
  }

  void append(Bytes payload, uint32_t crc, uint64_t) override {
    std::array<std::byte, kHeadBytes> head;
    store_le(head.data(), static_cast<uint32_t>(payload.size()));
    store_le(head.data() + 4, crc);
    sidecar_.add_record({data_.position(), kHeadBytes + payload.size()}, crc);
    data_.write(head);
    data_.write(payload);
  }
  std::optional<Bytes> payload_of(Bytes framed) override {
    if (framed.size() < kHeadBytes) return std::nullopt;
    if (framed.size() != kHeadBytes + load_le<uint32_t>(framed.data())) return std::nullopt;
    return unframe(framed);
  }
  void adopt(uint64_t framed_bytes, Bytes, uint32_t crc, uint64_t) override {
    sidecar_.add_record({adopted_, framed_bytes}, crc);
    adopted_ += framed_bytes;
  }
  uint64_t first_offset() const override { return kMagic.size(); }
  void finish() override {}

 private:
  Sink& data_;
  SidecarWriter& sidecar_;
  uint64_t adopted_ = kMagic.size();
};

inline const FileFormat kFormat{
    .extension = ".inv",
    .name = "Invented",
    .signature = {.bytes = kMagic},
    .joined_in_folders = true,
    .damage_hides_rest = true,
    .max_payload_bytes = UINT32_MAX,
    .open = [](const std::string& uri, const OpenOptions& options)
        -> std::shared_ptr<const Container> { return open_file(uri, options); },
    .sidecar_recipe = sidecar_recipe,
    .make_writer = [](const RecordFileSinks& sinks, uint64_t) -> std::unique_ptr<RecordFileWriter> {
      return std::make_unique<Writer>(sinks);
    },
    .open_stream = [](const std::string& uri, uint64_t max_payload_bytes,
                      const OpenOptions& options) -> std::unique_ptr<RecordStream> {
      return stream_of(open_file(uri, options), max_payload_bytes);
    },
    .open_damaged = open_damaged,
};

}  // namespace fuelrail::invented
