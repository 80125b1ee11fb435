// A RecordIO file and the sidecar beside it, opened and read as users do. Runs a second time with
// the sidecar changed to belong to the file. The sidecar's data is compared with the file, which
// RecordReader reads without a sidecar.
//
// An input consists of a u16 (the file's length), the file, and the sidecar.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/container/build_sidecar.h"
#include "fuelrail/container/recordio/record_reader.h"
#include "fuelrail/container/recordio/record_table.h"
#include "fuelrail/container/recordio/recordio_container.h"
#include "pair_fuzzing.h"
#include "sidecar_fuzzing.h"

namespace {

using namespace fuelrail;
using fuzzing::contents;
using fuzzing::require;
using fuzzing::succeeds;
using Opened = fuzzing::OpenedFile<RecordFile>;

const std::string kFile = "memory://pair/x.rec";
const std::string kSidecar = sidecar_uri(kFile);
constexpr uint64_t kMostRead = 16;  // records of a file
constexpr uint64_t kMostVerified = 4;

Opened open_file() { return fuzzing::open_file<RecordFile>(kFile); }

// The sidecar, if docs/formats/frx.md says that it is used.
std::unique_ptr<Sidecar> usable_sidecar(Bytes bytes, const Source& file) {
  std::unique_ptr<Sidecar> sidecar;
  const bool usable = succeeds([&] {
    sidecar = Sidecar::open(memory_source("usable", fuzzing::copied(bytes)));
    if (sidecar->identity() != identify(file)) throw CorruptError("another file's");
    if (!sidecar->has_table() || sidecar->records() == 0) throw CorruptError("no table");
    const RecordEntry last = sidecar->record(sidecar->records() - 1);
    if (sidecar->record(0).offset != 0) throw CorruptError("begins late");
    if (last.offset + last.length != file.size_bytes()) throw CorruptError("ends early");
  });
  return usable ? std::move(sidecar) : nullptr;
}

// --- Opening ------------------------------------------------------------------------------------

void check_used(const Opened& opened, const Sidecar& sidecar) {
  require(opened.container != nullptr, "a file whose sidecar can be used is opened");
  const RecordFile& container = *opened.container;
  require(opened.warnings.empty(), "of a sidecar that is used nothing is said");
  require(container.sidecar_location().place == SidecarPlace::kBeside, "it is the one beside");
  require(container.size() == sidecar.records(), "there are as many records as it says");
  require(container.fingerprint() == sidecar.fingerprint(), "its fingerprint is the file's");
  require(container.classes() == sidecar.classes(), "its class names are the file's");
  require(container.verifies_checksums() == sidecar.has_checksums(), "checksums are verified");
}

// The file opens as if it had no sidecar, and the next opening finds the sidecar that the scan
// wrote.
void check_set_aside(const Opened& opened, const std::shared_ptr<const Source>& file) {
  require(opened.warnings.size() == 1, "one warning says that the sidecar is set aside");
  StoredSidecar scanned;
  const bool scans =
      succeeds([&] { scanned = sidecar_in_memory(recordio::scan_heads(*file), identify(*file)); });
  require(scans == (opened.container != nullptr), "it is opened where it can be scanned");
  if (!scans) return;
  const RecordFile& container = *opened.container;
  require(container.sidecar_location().place == SidecarPlace::kCache, "the new one is cached");
  require(container.sidecar().same_contents(*scanned.sidecar), "it is what a scan gives");
  const Opened again = open_file();
  require(again.container != nullptr && !again.container->sidecar_location().made &&
              again.container->sidecar().same_contents(*scanned.sidecar),
          "it is found again");
}

// --- Reading ------------------------------------------------------------------------------------

// The parsed record equals the file's record at that place, with the right checksum if there is
// one. Returns: whether the record can be read.
bool read_record(const RecordFile& container, uint64_t i) {
  Extent extent;
  if (!succeeds([&] { extent = container.extent(i); })) return false;
  const uint64_t size = extent.source->size_bytes();
  require(extent.offset <= size && extent.length <= size - extent.offset,
          "an extent lies inside the file");
  require(container.place(i).offset == extent.offset, "a place is the extent's");
  std::vector<std::byte> framed(extent.length);
  extent.source->read(extent.offset, framed);
  Sample sample;
  if (!succeeds([&] { container.parse(i, framed, sample); })) return false;
  recordio::RecordReader reader(extent.source);
  reader.seek(extent.offset);
  const auto record = reader.next();
  require(record && record->framed_bytes == extent.length, "the file has this record");
  fuzzing::check_sample(container, i, sample, record->payload);
  if (container.verifies_checksums()) {
    require(crc32(record->payload) == container.sidecar().payload_crc(i), "its checksum is right");
  }
  return true;
}

void read_records(const RecordFile& container) {
  for (uint64_t i = 0; i < std::min(container.size(), kMostRead); ++i) read_record(container, i);
}

// --- Recovery and rebuilding --------------------------------------------------------------------

// Whether the sidecar has this record with this checksum.
bool has_record(const Sidecar& sidecar, const Extent& extent, uint32_t crc) {
  for (uint64_t i = 0; i < sidecar.records(); ++i) {
    const RecordEntry entry = sidecar.record(i);
    if (entry.offset == extent.offset && entry.length == extent.length &&
        sidecar.payload_crc(i) == crc) {
      return true;
    }
  }
  return false;
}

void check_recovery(const std::shared_ptr<const Source>& file, const Sidecar* own) {
  std::vector<RecordEntry> pieces;
  std::shared_ptr<const RecordFile> container;
  const bool opened = succeeds([&] {
    const auto report = [&](const Damage& damage) {
      pieces.push_back({damage.offset, damage.skipped_bytes});
    };
    container = recordio::open_damaged(kFile, report).file;
  });
  if (!opened) return;
  require(!container->verifies_checksums() || (own != nullptr && own->has_checksums()),
          "checksums are the own sidecar's");
  for (uint64_t i = 0; i < container->size(); ++i) {
    const Extent extent = container->extent(i);
    pieces.push_back({extent.offset, extent.length});
    require(!container->verifies_checksums() ||
                has_record(*own, extent, container->sidecar().payload_crc(i)),
            "a record that is verified is in the own sidecar");
  }
  std::ranges::sort(pieces, {}, &RecordEntry::offset);
  uint64_t reached = 0;
  for (const RecordEntry& piece : pieces) {
    require(piece.offset == reached, "records and damage cover the file");
    reached += piece.length;
  }
  require(reached == file->size_bytes(), "recovery reaches the end");
  read_records(*container);
}

// `index` never overwrites a file that is not this file's sidecar. After it, every record can be
// verified.
void check_indexing(const std::shared_ptr<const Source>& file, const Sidecar* own) {
  const std::vector<std::byte> before = contents(kSidecar);
  const bool built = succeeds([&] { build_sidecar(kFile); });
  require(own != nullptr || !built, "a sidecar that is set aside is not replaced");
  if (!built) {
    require(contents(kSidecar) == before, "nothing is written in a refused one's place");
    return;
  }
  const Opened opened = open_file();
  require(opened.container != nullptr && opened.warnings.empty(), "what is built is used");
  const RecordFile& container = *opened.container;
  require(container.verifies_checksums(), "what is built has checksums");
  container.sidecar().verify();
  recordio::RecordReader reader(file);
  for (uint64_t i = 0; i < container.size(); ++i) {
    const auto record = reader.next();
    const Extent extent = container.extent(i);
    require(record && record->offset == extent.offset && record->framed_bytes == extent.length &&
                crc32(record->payload) == container.sidecar().payload_crc(i),
            "the new table is the file's");
  }
  require(!reader.next(), "the new table has every record");
  const SidecarSection* classes = own->section(kClassesSection);
  require(classes == nullptr || !classes->kept() || container.classes() == own->classes(),
          "class names are kept");
}

void check_pair(Bytes file, Bytes sidecar) {
  const fuzzing::PairFiles files(kFile, file, sidecar);
  const std::shared_ptr<const Source> source = memory_file_system().open(kFile);
  std::unique_ptr<Sidecar> own = usable_sidecar(sidecar, *source);
  std::unique_ptr<Sidecar> longer = fuzzing::sidecar_of_longer_file(sidecar, *source);
  const Opened opened = open_file();
  if (own != nullptr) {
    check_used(opened, *own);
  } else if (longer != nullptr && fuzzing::is_judged_damaged(opened)) {
    own = std::move(longer);
  } else {
    check_set_aside(opened, source);
  }
  if (opened.container != nullptr) {
    read_records(*opened.container);
    fuzzing::verify_records(*opened.container, kMostVerified,
                            [&](uint64_t i) { return read_record(*opened.container, i); });
  }
  check_recovery(source, own.get());
  require(std::ranges::equal(contents(kSidecar), sidecar), "reading leaves the sidecar alone");
  check_indexing(source, own.get());
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  fuzzing::PairFiles::cache_in_memory();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const auto [file, sidecar] = fuzzing::pair_of(fuzzing::as_bytes(data, size));
  check_pair(file, sidecar);
  std::vector<std::byte> mended = fuzzing::copied(sidecar);
  fuzzing::mend_identity(mended, *memory_source("the file", fuzzing::copied(file)));
  fuzzing::mend_checksums(mended);
  mended.shrink_to_fit();
  if (!std::ranges::equal(mended, sidecar)) check_pair(file, mended);
  return 0;
}
