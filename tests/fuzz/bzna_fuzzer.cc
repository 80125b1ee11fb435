// `.bzna` files: the boxes, the tables, the records, the table of stills in the sidecar, the search
// for records, and the writer.
#include <algorithm>
#include <memory>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/container/build_sidecar.h"
#include "fuelrail/container/bzna/bzna_container.h"
#include "fuelrail/container/bzna/file_writer.h"
#include "fuelrail/storage/memory/memory_file_system.h"
#include "fuelrail/storage/memory/memory_sink.h"
#include "fuzzing.h"

namespace {

using namespace fuelrail;
using fuzzing::require;
using fuzzing::succeeds;

constexpr const char* kUri = "memory://fuzzed.bzna";
constexpr uint64_t kMostRecords = 64;  // a track may have more, without any bytes

void put(Bytes file) {
  memory_file_system().remove(std::string(kUri) + ".frx");
  const auto sink = memory_file_system().create(kUri);
  sink->write(file);
  sink->commit();
}

struct ReadSample {
  bool ok = false;
  std::vector<std::byte> framed{};
  Sample sample{};
};

std::unique_ptr<ReadSample> read(const Container& container, uint64_t i) {
  auto result = std::make_unique<ReadSample>();
  result->ok = succeeds([&] { read_sample(container, i, result->framed, result->sample); });
  return result;
}

void require_equal(const Sample& a, const Sample& b) {
  for (size_t f = 0; f < a.fields.size(); ++f) {
    require(std::ranges::equal(a.fields[f].bytes, b.fields[f].bytes),
            "with the sidecar, a sample is the same");
  }
  const FieldValue &image = a.fields[0], &other = b.fields[0];
  require(image.visible == other.visible && image.codec->coded == other.codec->coded,
          "with the sidecar, the codec is the same");
}

void check_samples(const RecordFile& container, uint64_t file_bytes) {
  for (uint64_t i = 0; i < std::min(container.size(), kMostRecords); ++i) {
    const Extent extent = container.record_extent(i);
    require(extent.offset <= file_bytes && extent.length <= file_bytes - extent.offset,
            "a record is in its file");
    const auto result = read(container, i);
    if (!result->ok) continue;
    const FieldValue& image = result->sample.fields[0];
    require(image.codec != nullptr && !image.bytes.empty(), "an image has a codec and bytes");
    require(image.visible.height <= image.codec->coded.height &&
                image.visible.width <= image.codec->coded.width,
            "the visible part is in the picture");
    require(result->sample.fields[1].bytes.size() == sizeof(int64_t), "a label is an int64");
  }
}

// With a sidecar, samples equal those of the file alone.
void check_sidecar(const RecordFile& plain, const OpenOptions& options) {
  if (!succeeds([] { build_sidecar(kUri); })) return;
  const auto with = bzna::open_bzna(kUri, options);
  require(with->sidecar_location().place == SidecarPlace::kBeside, "its own sidecar is used");
  require(with->fingerprint() == plain.fingerprint(), "a fingerprint is of content");
  for (uint64_t i = 0; i < std::min(plain.size(), kMostRecords); ++i) {
    const auto alone = read(plain, i);
    const auto table = read(*with, i);
    require(alone->ok == table->ok, "with the sidecar, the same records can be read");
    if (alone->ok) require_equal(alone->sample, table->sample);
  }
}

// The records that the writer takes are read back as they are.
void check_writing(const RecordFile& file) {
  MemorySink sink("written");
  SidecarWriter sidecar;
  std::vector<std::vector<std::byte>> records;
  const auto writer = bzna::make_writer({sink, nullptr, sidecar});
  for (uint64_t i = 0; i < std::min(file.size(), kMostRecords); ++i) {
    const Extent extent = file.record_extent(i);
    std::vector<std::byte> record(extent.length);
    extent.source->read(extent.offset, record);
    if (!succeeds([&] { writer->append(record, crc32(record), 0); })) continue;
    require(writer->payload_of(record).has_value(), "a record that was written can be adopted");
    records.push_back(std::move(record));
  }
  writer->finish();
  const std::vector<std::byte> written = sink.take();
  put(written);
  const auto again = bzna::open_bzna(kUri);
  require(again->size() == records.size(), "all records are written");
  for (uint64_t i = 0; i < records.size(); ++i) {
    const Extent extent = again->record_extent(i);
    require(std::ranges::equal(Bytes(written).subspan(extent.offset, extent.length), records[i]),
            "records are written as they are");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes file = fuzzing::as_bytes(data, size);
  put(file);
  for (const char* track : {"bzna_thumb", "bzna_input"}) {
    const OpenOptions options{.track = track};
    std::shared_ptr<const RecordFile> container;
    const bool opened = succeeds([&] { container = bzna::open_bzna(kUri, options); });
    const Salvage salvage = bzna::open_damaged(kUri, [](const Damage&) {}, options, {});
    check_samples(*salvage.file, size);
    if (!opened) continue;
    check_samples(*container, size);
    succeeds([&] { open_container(kUri, {.track = track, .split = "train"}); });
    check_sidecar(*container, options);
    memory_file_system().remove(std::string(kUri) + ".frx");
  }
  std::shared_ptr<const RecordFile> container;
  if (succeeds([&] { container = bzna::open_bzna(kUri); })) check_writing(*container);
  return 0;
}
