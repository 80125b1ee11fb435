// FFRecord files: the table, the reader and the containers built on it. Runs a second time with
// every checksum corrected, to reach the code behind the checksum checks.
#include <algorithm>
#include <memory>
#include <vector>

#include "ffrecord_fuzzing.h"
#include "fuelrail/base/crc32.h"
#include "fuelrail/container/ffrecord/ffrecord_container.h"
#include "fuelrail/container/ffrecord/file_reader.h"
#include "fuelrail/container/ffrecord/file_writer.h"
#include "fuelrail/container/ffrecord/packed_folder.h"
#include "fuelrail/container/ffrecord/record_table.h"
#include "fuelrail/storage/memory/memory_file_system.h"
#include "fuelrail/storage/memory/memory_sink.h"

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

void put(Bytes file) {
  memory_file_system().remove(std::string(kUri) + ".frx");
  const auto sink = memory_file_system().create(kUri);
  sink->write(file);
  sink->commit();
}

// Reads the file alone, and twice in one FileReader. Records with wrong checksums are refused if
// checksums are verified, and `verify` reports exactly these.
void check_reader(Bytes file) {
  put(file);
  std::vector<uint64_t> all, damaged;
  const ffrecord::FileReader plain({kUri, kUri}, {.check_data = false, .read = {.threads = 0}});
  const ffrecord::RecordTable& table = plain.table(0);
  require(plain.size() == 2 * table.size(), "two files are one index space");
  for (uint64_t i = 0; i < plain.size(); ++i) {
    const uint64_t record = i % table.size();
    const Bytes bytes = file.subspan(table.offset(record), table.length(record));
    all.push_back(i);
    if (crc32(bytes) != table.crc(record)) damaged.push_back(i);
  }
  const auto records = plain.read(all);
  for (const uint64_t i : all) {
    const uint64_t record = i % table.size();
    const Bytes bytes = file.subspan(table.offset(record), table.length(record));
    require(std::ranges::equal(records[i].bytes, bytes), "bytes are given as they are");
  }
  std::vector<uint64_t> reported;
  plain.verify([&](uint64_t i, const std::exception_ptr&) { reported.push_back(i); },
               [](uint64_t) { return true; });
  require(reported == damaged, "verify reports what is damaged");
  require(!succeeds([&] { plain.read(std::vector{plain.size()}); }), "there is no record more");
  const bool opened = succeeds([&] {
    const ffrecord::FileReader checking({kUri, kUri}, {.read = {.threads = 0}});
    checking.verify_tables();
    require(succeeds([&] { checking.read(all); }) == damaged.empty(),
            "a batch with a wrong checksum is refused");
  });
  require(opened == succeeds([&] { plain.verify_tables(); }), "opening verifies tables");
}

// Opens the file twice: with a scan, and with the sidecar that the scan wrote.
void check_container(Bytes file, bool checksums_are_right) {
  put(file);
  std::shared_ptr<const ffrecord::FfrecordContainer> container;
  if (!succeeds([&] { container = ffrecord::open_ffrecord(kUri); })) return;
  check_table(container->table(), file.size());
  const auto again = ffrecord::open_ffrecord(kUri);
  require(again->schema() == container->schema(), "the sidecar says what the scan found");
  require(again->fingerprint() == container->fingerprint(), "a fingerprint is of content");
  const bool raw = container->sidecar().payloads() == PayloadKind{};
  std::vector<std::byte> framed;
  Sample sample;
  for (uint64_t i = 0; i < container->size(); ++i) {
    const Extent extent = container->extent(i);
    const Bytes record = file.subspan(extent.offset, extent.length);
    const bool right = crc32(record) == container->table().crc(i);
    require(right || !checksums_are_right, "checksums were put right");
    const bool read = succeeds([&] { read_sample(*container, i, framed, sample); });
    require(right || !read, "a record whose checksum is wrong is refused");
    require(!raw || read == right, "bytes are given as they are");
    if (read && raw) {
      require(sample.fields[0].bytes.size() == record.size() && sample.id == i,
              "bytes are given as they are");
    }
  }
}

// Opens the file as a packed folder of images. Every image is a record of the file.
void check_packed(Bytes file) {
  put(file);
  std::shared_ptr<const Container> container;
  if (!succeeds([&] { container = ffrecord::open_packed_images(kUri); })) return;
  const ffrecord::RecordTable table =
      ffrecord::RecordTable::read(*memory_file_system().open(kUri), true);
  std::vector<std::byte> framed;
  Sample sample;
  for (uint64_t i = 0; i < container->size(); ++i) {
    const Place place = container->place(i);
    require(place.record + 1 < table.size(), "an image is a record, and not the last");
    const Bytes record = file.subspan(table.offset(place.record), table.length(place.record));
    const bool right = crc32(record) == table.crc(place.record);
    require(succeeds([&] { read_sample(*container, i, framed, sample); }) == right,
            "an image whose checksum is wrong is refused");
    if (!right) continue;
    require(std::ranges::equal(sample.fields[0].bytes, record), "images are given as they are");
    require(load_le<uint64_t>(sample.fields[1].bytes.data()) < container->classes().size(),
            "a label is a class");
  }
}

// Writes the records again, with and without a known number of records. The records are equal, and
// so are the files unless the original has a gap after its table.
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
  bool verified = false, plain = false, checksum = false;
  size_t warnings = 0;
  const auto warn = [&](const std::string&) { ++warnings; };
  verified = succeeds([&] { check_table(ffrecord::RecordTable::read(*source, true, warn), size); });
  plain = succeeds([&] {
    const ffrecord::RecordTable table = ffrecord::RecordTable::read(*source, false);
    check_table(table, size);
    checksum = table.has_checksum();
  });
  require(plain || !verified, "a table that is verified is one without that");
  require(warnings == (plain && !checksum ? 1 : 0), "a table without a checksum is warned of");
  check_container(file, false);
  check_packed(file);
  if (!plain) return 0;
  check_reader(file);
  const std::vector<std::byte> right = fuzzing::mended_ffrecord(file);
  check_container(right, true);
  check_packed(right);
  check_reader(right);
  if (checksum) check_writing(right);
  return 0;
}
