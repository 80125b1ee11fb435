// Sidecars. Runs a second time with their checksums corrected, because otherwise no damage gets
// past the header.
#include <algorithm>

#include "fuelrail/container/sidecar/sidecar.h"
#include "fuelrail/container/sidecar/sidecar_writer.h"
#include "fuelrail/storage/memory/memory_file_system.h"
#include "fuelrail/testing/collecting_sink.h"
#include "sidecar_fuzzing.h"

namespace {

using namespace fuelrail;
using fuzzing::require;
using fuzzing::succeeds;

void use_sections(const Sidecar& sidecar) {
  for (const SidecarSection& section : sidecar.sections()) {
    succeeds([&] { require(section.all().size() == section.size(), "a section is whole"); });
    std::vector<std::byte> part(section.size() / 3);
    succeeds([&] { section.read(section.size() / 2, part); });
    part.resize(1);
    require(!succeeds([&] { section.read(section.size(), part); }), "nothing is behind a section");
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

// Sections that cannot be rebuilt are preserved when the sidecar is written again.
void keep_sections(const Sidecar& sidecar) {
  succeeds([&] {
    SidecarWriter writer;
    writer.keep_sections_of(sidecar);
    CollectingSink sink;
    writer.write_to(sidecar.identity(), sink);
    const auto written = Sidecar::open(memory_source("written", sink.bytes()));
    const SidecarSection* classes = sidecar.section(kClassesSection);
    const bool kept = classes != nullptr && classes->kept();
    require(!kept || written->classes() == sidecar.classes(), "class names are kept");
  });
}

void check_sidecar(Bytes file) {
  std::unique_ptr<Sidecar> sidecar;
  if (!succeeds([&] { sidecar = Sidecar::open(memory_source("fuzzed", fuzzing::copied(file))); }))
    return;
  use_sections(*sidecar);
  use_records(*sidecar);
  keep_sections(*sidecar);
  if (sidecar->records() <= 1 << 16) succeeds([&] { sidecar->verify(); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes file = fuzzing::as_bytes(data, size);
  check_sidecar(file);
  std::vector<std::byte> mended = fuzzing::copied(file);
  fuzzing::mend_checksums(mended);
  mended.shrink_to_fit();
  check_sidecar(mended);
  return 0;
}
