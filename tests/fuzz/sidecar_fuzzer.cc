// Sidecars: as they are, and with their checksums put right, without which no damage would get past
// the header.
#include <algorithm>

#include "fuelrail/container/sidecar.h"
#include "fuelrail/testing/collecting_sink.h"
#include "sidecar_fuzzing.h"

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
