// Sidecars: as they are, and with their checksums put right, without which no damage would get past
// the header.
#include <algorithm>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/endian.h"
#include "fuelrail/container/sidecar.h"
#include "fuelrail/testing/collecting_sink.h"
#include "fuzzing.h"

namespace {

using namespace fuelrail;
using fuzzing::require;
using fuzzing::succeeds;

void use_sections(const Sidecar& sidecar) {
  for (const SidecarSection& section : sidecar.sections()) {
    succeeds([&] { require(section.all().size() == section.size(), "a section is whole"); });
    succeeds([&] { section.range(section.size() / 2, section.size() / 3); });
    require(!succeeds([&] { section.range(section.size(), 1); }), "nothing lies behind a section");
    succeeds([&] { section.verify(); });
  }
}

void use_records(const Sidecar& sidecar) {
  const uint64_t used = std::min<uint64_t>(sidecar.records(), 64);
  for (uint64_t i = 0; i < used; ++i) {
    const uint64_t record = i % 2 == 0 ? i : sidecar.records() - i;
    if (sidecar.has_table()) {
      succeeds([&] {
        const auto [offset, length] = sidecar.record(record);
        const uint64_t size = sidecar.identity().size_bytes;
        require(offset <= size && length <= size - offset, "a record is inside its file");
      });
    }
    if (sidecar.has_checksums()) succeeds([&] { sidecar.payload_crc(record); });
  }
}

// What is marked as not to be rebuilt survives: it is written anew and read.
void keep_sections(const Sidecar& sidecar) {
  succeeds([&] {
    SidecarWriter writer;
    writer.keep_sections_of(sidecar);
    CollectingSink sink;
    writer.write_to(sidecar.identity(), sink);
    const auto written = Sidecar::open({sink.bytes(), nullptr}, "written");
    const SidecarSection* classes = sidecar.section(kClassesSection);
    const bool kept = classes != nullptr && classes->kept();
    require(!kept || written->classes() == sidecar.classes(), "class names are kept");
  });
}

void check_sidecar(Bytes file) {
  std::unique_ptr<Sidecar> sidecar;
  if (!succeeds([&] { sidecar = Sidecar::open({file, nullptr}, "fuzzed"); })) return;
  use_sections(*sidecar);
  use_records(*sidecar);
  keep_sections(*sidecar);
  if (sidecar->records() <= 1 << 16) succeeds([&] { sidecar->verify(); });
}

// Puts every checksum right that lies inside the file (docs/formats/frx.md).
void mend_checksums(std::vector<std::byte>& file) {
  constexpr size_t kHeaderBytes = 64, kEntryBytes = 32;
  if (file.size() < kHeaderBytes) return;
  store_le<uint64_t>(file.data() + 16, file.size());
  const uint64_t sections = load_le<uint32_t>(file.data() + 12);
  if (sections > (file.size() - kHeaderBytes) / kEntryBytes) return;
  for (uint64_t i = 0; i < sections; ++i) {
    std::byte* entry = file.data() + kHeaderBytes + i * kEntryBytes;
    const auto offset = load_le<uint64_t>(entry + 8), length = load_le<uint64_t>(entry + 16);
    const uint64_t block = load_le<uint32_t>(entry + 24);
    if (offset > file.size() || length > file.size() - offset) continue;
    const Bytes data = Bytes(file).subspan(offset, length);
    if (block == 0) {
      store_le(entry + 28, crc32(data));
      continue;
    }
    const uint64_t blocks = (length + block - 1) / block;
    const uint64_t crcs = (offset + length + 3) / 4 * 4;
    if (crcs > file.size() || blocks > (file.size() - crcs) / 4) continue;
    for (uint64_t b = 0; b < blocks; ++b) {
      const Bytes part = data.subspan(b * block, std::min(block, length - b * block));
      store_le(file.data() + crcs + 4 * b, crc32(part));
    }
    store_le(entry + 28, crc32(Bytes(file).subspan(crcs, 4 * blocks)));
  }
  const uint32_t header = crc32(Bytes(file).first(60));
  const Bytes directory = Bytes(file).subspan(kHeaderBytes, sections * kEntryBytes);
  store_le(file.data() + 60, crc32(directory, header));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes file = fuzzing::as_bytes(data, size);
  check_sidecar(file);
  std::vector<std::byte> mended = fuzzing::copied(file);
  mend_checksums(mended);
  mended.shrink_to_fit();
  check_sidecar(mended);
  return 0;
}
