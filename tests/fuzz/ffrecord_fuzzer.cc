// FFRecord files: the table, and the container over it; also with every checksum put right, so that
// what lies behind them is reached.
#include <algorithm>
#include <memory>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/endian.h"
#include "fuelrail/container/ffrecord/ffrecord_container.h"
#include "fuelrail/container/ffrecord/file_writer.h"
#include "fuelrail/container/ffrecord/record_table.h"
#include "fuelrail/storage/memory/memory_file_system.h"
#include "fuelrail/storage/memory/memory_sink.h"
#include "fuzzing.h"

namespace {

using namespace fuelrail;
using fuzzing::require;
using fuzzing::succeeds;

constexpr const char* kUri = "memory://ffrecord.ffr";

void check_table(const ffrecord::RecordTable& table, uint64_t file_bytes) {
  require(table.file_bytes() == file_bytes, "the table knows its file's size");
  uint64_t end = ffrecord::table_bytes(table.size());
  require(end <= file_bytes, "the table is in its file");
  for (uint64_t i = 0; i < table.size(); ++i) {
    require(table.offset(i) >= end && table.offset(i) <= file_bytes, "offsets ascend");
    require(table.length(i) <= file_bytes - table.offset(i), "records are in their file");
    end = table.offset(i);
  }
}

// The same table and records, with the checksums that they should have.
std::vector<std::byte> mended(Bytes file) {
  std::vector<std::byte> bytes = fuzzing::copied(file);
  if (bytes.size() < ffrecord::kHeadBytes) return bytes;
  const auto source = memory_source("fuzzed", bytes);
  succeeds([&] {
    const ffrecord::RecordTable table = ffrecord::RecordTable::read(*source, false);
    for (uint64_t i = 0; i < table.size(); ++i) {
      store_le(bytes.data() + ffrecord::kHeadBytes + 4 * i,
               crc32(file.subspan(table.offset(i), table.length(i))));
    }
    const Bytes covered = Bytes(bytes).subspan(4, ffrecord::table_bytes(table.size()) - 4);
    store_le(bytes.data(), crc32(covered));
  });
  return bytes;
}

void put(Bytes file) {
  memory_file_system().remove(std::string(kUri) + ".frx");
  const auto sink = memory_file_system().create(kUri);
  sink->write(file);
  sink->commit();
}

// Opened twice: by a scan, and with the sidecar that it left.
void check_container(Bytes file, bool checksums_are_right) {
  put(file);
  std::shared_ptr<const ffrecord::FfrecordContainer> container;
  if (!succeeds([&] { container = ffrecord::open_ffrecord(kUri); })) return;
  check_table(container->table(), file.size());
  const auto again = ffrecord::open_ffrecord(kUri);
  require(again->schema() == container->schema(), "the sidecar says what the scan found");
  require(again->fingerprint() == container->fingerprint(), "a fingerprint is of content");
  const bool images = container->schema().has("image");
  std::vector<std::byte> framed;
  Sample sample;
  for (uint64_t i = 0; i < container->size(); ++i) {
    const Extent extent = container->extent(i);
    const Bytes record = file.subspan(extent.offset, extent.length);
    const bool right = crc32(record) == container->table().crc(i);
    require(right || !checksums_are_right, "checksums were put right");
    const bool read = succeeds([&] { read_sample(*container, i, framed, sample); });
    require(right || !read, "a record whose checksum is wrong is refused");
    require(images || read == right, "bytes are given as they are");
    if (read && !images) {
      require(sample.fields[0].bytes.size() == record.size() && sample.id == i,
              "bytes are given as they are");
    }
  }
}

// Written again, with and without the number of records known before: the same records, and the
// same file where that had no gap behind its table.
void check_writing(const std::vector<std::byte>& file) {
  const auto source = memory_source("fuzzed", file);
  const ffrecord::RecordTable table = ffrecord::RecordTable::read(*source, true);
  const uint64_t first = table.size() == 0 ? file.size() : table.offset(0);
  for (const uint64_t expected : {table.size(), uint64_t{0}, table.size() + 3}) {
    MemorySink sink("written");
    ffrecord::FileWriter writer(sink, expected);
    for (uint64_t i = 0; i < table.size(); ++i) {
      writer.append(Bytes(file).subspan(table.offset(i), table.length(i)));
    }
    writer.finish();
    const std::vector<std::byte> written = sink.take();
    const Bytes head = Bytes(written).first(ffrecord::table_bytes(table.size()));
    require(std::ranges::equal(Bytes(written).subspan(head.size()), Bytes(file).subspan(first)),
            "records are written as they are");
    require(first != head.size() || std::ranges::equal(written, file), "a file is its records");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes file = fuzzing::as_bytes(data, size);
  const std::shared_ptr<const Source> source = memory_source("fuzzed", fuzzing::copied(file));
  bool verified = false, plain = false;
  verified = succeeds([&] { check_table(ffrecord::RecordTable::read(*source, true), size); });
  plain = succeeds([&] { check_table(ffrecord::RecordTable::read(*source, false), size); });
  require(plain || !verified, "a table that is verified is one without that");
  check_container(file, false);
  if (!plain) return 0;
  const std::vector<std::byte> right = mended(file);
  check_container(right, true);
  check_writing(right);
  return 0;
}
