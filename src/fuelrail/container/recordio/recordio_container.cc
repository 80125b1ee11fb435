#include "fuelrail/container/recordio/recordio_container.h"

#include <fmt/format.h>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/image_record.h"
#include "fuelrail/container/recordio/framing.h"
#include "fuelrail/container/recordio/record_table.h"

namespace fuelrail::recordio {
namespace {

// A RecordIO file is its records and nothing else, so the table runs from its begin to its end.
void accept_sidecar(const Sidecar& sidecar) {
  if (!sidecar.has_table() || sidecar.records() == 0) {
    throw CorruptError("the sidecar has no record table", {.path = sidecar.uri()});
  }
  const RecordEntry last = sidecar.record(sidecar.records() - 1);
  if (sidecar.record(0).offset == 0 && last.offset + last.length == sidecar.identity().size_bytes) {
    return;
  }
  throw CorruptError(
      "the sidecar's record table does not span its file",
      {.path = sidecar.uri(),
       .expected = fmt::format("0 to {}", sidecar.identity().size_bytes),
       .found = fmt::format("{} to {}", sidecar.record(0).offset, last.offset + last.length)});
}

class OpenedRecordIo final : public RecordIoContainer {
 public:
  OpenedRecordIo(std::shared_ptr<const Source> source, StoredSidecar sidecar)
      : source_(std::move(source)),
        sidecar_(std::move(sidecar)),
        parser_(sidecar_.sidecar->labels()) {}

  uint64_t size() const override { return sidecar().records(); }
  const Schema& schema() const override { return parser_.schema(); }

  Extent extent(uint64_t i) const override {
    const RecordEntry entry = sidecar().record(i);
    if (entry.length > kMaxFramedBytes) throw_too_long(i, entry);
    return {source_, entry.offset, entry.length};
  }

  void parse(uint64_t i, Bytes framed, Sample& out) const override {
    const RecordEntry entry = sidecar().record(i);
    const bool checked = sidecar().has_checksums();
    const uint32_t crc = checked ? sidecar().payload_crc(i) : 0;
    try {
      const Bytes payload = unframe_whole(entry, framed, out.storage);
      if (checked) check_record_crc(crc32(payload), crc);
      parser_.parse(i, payload, out);
    } catch (Error& error) {
      error.add({.path = source_->uri(), .record = i, .offset = entry.offset});
      throw;
    }
  }

  Place place(uint64_t i) const override {
    try {
      return {source_->uri(), i, sidecar().record(i).offset};
    } catch (const CorruptError&) {
      return {source_->uri(), i, 0};  // the table is damaged; whoever reads the record hears of it
    }
  }

  const std::vector<std::string>& classes() const override { return sidecar().classes(); }
  bool verifies_checksums() const override { return sidecar().has_checksums(); }
  const char* format() const override { return "RecordIO"; }
  const std::string& uri() const override { return source_->uri(); }
  const Sidecar& sidecar() const override { return *sidecar_.sidecar; }
  Bytes payload(uint64_t i, Bytes framed, std::vector<std::byte>& storage) const override {
    return unframe(framed, storage, sidecar().record(i).offset).payload;
  }
  const SidecarLocation& sidecar_location() const override { return sidecar_.location; }

 private:
  Fingerprint make_fingerprint(const std::function<bool()>&) const override {
    return sidecar().fingerprint();
  }

  [[noreturn]] void throw_too_long(uint64_t i, const RecordEntry& entry) const {
    throw CorruptError("the record table has a record longer than any can be",
                       {.path = source_->uri(),
                        .record = i,
                        .offset = entry.offset,
                        .expected = fmt::format("at most {} bytes", kMaxFramedBytes),
                        .found = fmt::format("{}", entry.length),
                        .remedy = "Make a new sidecar with 'fuelrail index'"});
  }

  static Bytes unframe_whole(const RecordEntry& entry, Bytes framed,
                             std::vector<std::byte>& storage) {
    const Unframed record = unframe(framed, storage, entry.offset);
    if (record.framed_bytes == entry.length && framed.size() == entry.length) return record.payload;
    throw CorruptError("the record's length is not what the record table says",
                       {.expected = fmt::format("{} bytes", entry.length),
                        .found = fmt::format("{}", record.framed_bytes)});
  }

  std::shared_ptr<const Source> source_;
  StoredSidecar sidecar_;
  PayloadParser parser_;
};

}  // namespace

std::shared_ptr<const RecordIoContainer> open_recordio(const std::string& uri,
                                                       const OpenOptions& options) {
  return open_with_store(uri, options.warn, [&](const auto& source, SidecarStore& store) {
    std::optional<StoredSidecar> sidecar = store.find(accept_sidecar);
    if (!sidecar) sidecar = store.publish(scan_heads(*source, progress_of(options)));
    return std::make_shared<const OpenedRecordIo>(source, *std::move(sidecar));
  });
}

std::shared_ptr<const RecordIoContainer> open_recordio_recovering(
    const std::string& uri, const std::function<void(const Damage&)>& report,
    const OpenOptions& options) {
  return open_with_store(uri, options.warn, [&](const auto& source, SidecarStore& store) {
    const auto own = store.find([](const Sidecar& sidecar) {
      accept_sidecar(sidecar);
      sidecar.verify();
    });
    const SidecarWriter table =
        recover_table(source, report, own ? own->sidecar.get() : nullptr, progress_of(options));
    return std::make_shared<const OpenedRecordIo>(source,
                                                  sidecar_in_memory(table, store.identity()));
  });
}

SidecarRecipe sidecar_recipe(std::shared_ptr<const Source> source,
                             const std::function<void(const std::string&)>&) {
  return {.accept = accept_sidecar, .make = [source](const BuildSidecarOptions& options) {
            return options.checksums ? read_table(source, options.progress)
                                     : scan_heads(*source, options.progress);
          }};
}

}  // namespace fuelrail::recordio
