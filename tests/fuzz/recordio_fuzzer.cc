// RecordIO files: read from front to back, read past damage, and scanned into a record table.
#include <algorithm>
#include <memory>

#include "fuelrail/base/crc32.h"
#include "fuelrail/container/recordio/framing.h"
#include "fuelrail/container/recordio/record_reader.h"
#include "fuelrail/container/recordio/record_table.h"
#include "fuelrail/container/sidecar/sidecar_store.h"
#include "fuelrail/container/sidecar/sidecar_writer.h"
#include "fuelrail/storage/memory/memory_file_system.h"
#include "fuzzing.h"

namespace {

using namespace fuelrail;
using fuzzing::require;
using fuzzing::succeeds;

struct Found {
  uint64_t offset = 0, framed_bytes = 0;
  uint32_t crc = 0;
  friend bool operator==(const Found&, const Found&) = default;
};

// Reads until the end or the first error.
std::vector<Found> read_plainly(const std::shared_ptr<const Source>& source, bool& clean) {
  recordio::RecordReader reader(source);
  std::vector<Found> found;
  clean = succeeds([&] {
    while (const auto record = reader.next()) {
      found.push_back({record->offset, record->framed_bytes, crc32(record->payload)});
    }
  });
  require(clean == (reader.position() == source->size_bytes()), "only a clean end is the end");
  return found;
}

std::vector<Found> read_past_damage(const std::shared_ptr<const Source>& source, bool& damaged) {
  uint64_t reached = 0;
  const auto passed = [&](const Damage& damage) {
    require(damage.offset == reached && damage.skipped_bytes > 0,
            "damage begins where records end");
    reached += damage.skipped_bytes;
    damaged = true;
  };
  recordio::RecordReader reader(source, {.recover = passed});
  std::vector<Found> found;
  while (const auto record = reader.next()) {
    require(record->offset == reached, "records and damage cover the file");
    reached += record->framed_bytes;
    found.push_back({record->offset, record->framed_bytes, crc32(record->payload)});
  }
  require(reached == source->size_bytes(), "recovery reaches the end");
  return found;
}

// Writes the records again and reads the result: the payloads are equal.
void check_writing(Bytes file, const std::vector<Found>& records) {
  std::vector<std::byte> written, storage, again;
  for (const Found& record : records) {
    const Bytes framed = file.subspan(record.offset, record.framed_bytes);
    const Bytes payload = recordio::unframe(framed, storage, record.offset).payload;
    written.clear();
    recordio::append_framed(payload, written);
    const recordio::Unframed read = recordio::unframe(written, again);
    require(read.framed_bytes == written.size() && crc32(read.payload) == record.crc,
            "what is written is read back");
  }
}

void check_tables(const std::shared_ptr<const Source>& source, size_t records, bool clean) {
  const FileIdentity identity = identify(*source);
  const auto check = [&](const SidecarWriter& writer) {
    const StoredSidecar stored = sidecar_in_memory(writer, identity);
    stored.sidecar->verify();
    return stored.sidecar->records();
  };
  const bool scanned = succeeds([&] { check(recordio::scan_heads(*source)); });
  const bool tabled = succeeds([&] {
    require(check(recordio::read_table(source)) == records, "the table has every record");
  });
  require(!tabled || clean, "a table is made of a clean file only");
  require(!tabled || scanned, "a file that can be read can be scanned");
  succeeds([&] {
    check(recordio::recover_table(
        source, [](const Damage&) {}, nullptr));
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes file = fuzzing::as_bytes(data, size);
  const std::shared_ptr<const Source> source = memory_source("fuzzed", fuzzing::copied(file));
  bool clean = false, damaged = false;
  const std::vector<Found> plain = read_plainly(source, clean);
  const std::vector<Found> recovered = read_past_damage(source, damaged);
  require(!clean || damaged || plain == recovered, "without damage recovery changes nothing");
  check_writing(file, plain);
  check_tables(source, plain.size(), clean);
  return 0;
}
