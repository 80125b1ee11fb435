// An FFRecord file and the sidecar beside it, opened and read as users do. Runs a second time with
// the checksums of both corrected and the sidecar changed to belong to the file. The table always
// comes from the file itself.
//
// An input consists of a u16 (the file's length), the file, and the sidecar.
#include <memory>
#include <string>
#include <vector>

#include "ffrecord_fuzzing.h"
#include "fuelrail/base/crc32.h"
#include "fuelrail/container/build_sidecar.h"
#include "fuelrail/container/ffrecord/ffrecord_container.h"
#include "fuelrail/container/ffrecord/record_scan.h"
#include "pair_fuzzing.h"
#include "sidecar_fuzzing.h"

namespace {

using namespace fuelrail;
using ffrecord::FfrecordContainer;
using ffrecord::RecordTable;
using fuzzing::contents;
using fuzzing::require;
using fuzzing::succeeds;
using Opened = fuzzing::OpenedFile<FfrecordContainer>;

const std::string kFile = "memory://pair/x.ffr";
constexpr uint64_t kMostRead = 16;  // records of a file
constexpr uint64_t kMostVerified = 4;

Opened open_file() { return fuzzing::open_file<FfrecordContainer>(kFile); }

uint64_t record_bytes(const RecordTable& table) {
  return table.size() == 0 ? 0 : table.file_bytes() - table.offset(0);
}

// The sidecar, if it can be used for this file.
std::unique_ptr<Sidecar> usable_sidecar(Bytes bytes, const Source& file, const RecordTable& table) {
  std::unique_ptr<Sidecar> sidecar;
  const bool usable = succeeds([&] {
    sidecar = Sidecar::open(memory_source("usable", fuzzing::copied(bytes)));
    const Fingerprint& found = sidecar->fingerprint();
    if (sidecar->identity() != identify(file)) throw CorruptError("another file's");
    if (found.records != table.size() || found.bytes != record_bytes(table)) {
      throw CorruptError("another table's");
    }
  });
  return usable ? std::move(sidecar) : nullptr;
}

// A table without its own checksum gives one warning.
size_t warnings_of(const RecordTable& table) { return table.has_checksum() ? 0 : 1; }

// --- Opening ------------------------------------------------------------------------------------

void check_used(const Opened& opened, const Sidecar& own) {
  const FfrecordContainer& container = *opened.container;
  require(opened.warnings.size() == warnings_of(container.table()),
          "of a sidecar that is used nothing is said");
  require(container.sidecar_location().place == SidecarPlace::kBeside, "it is the one beside");
  require(container.classes() == own.classes(), "its class names are the file's");
  require(container.sidecar().payloads() == own.payloads(), "its labels or fields are the file's");
}

// The file opens as if it had no sidecar, and the next opening finds the sidecar that the scan
// wrote.
void check_set_aside(const Opened& opened, const Source& file) {
  const FfrecordContainer& container = *opened.container;
  require(opened.warnings.size() == warnings_of(container.table()) + 1,
          "one warning says that the sidecar is set aside");
  const StoredSidecar scanned =
      sidecar_in_memory(ffrecord::scan_records(file, container.table()), identify(file));
  require(container.sidecar_location().place == SidecarPlace::kCache, "the new one is cached");
  require(container.sidecar().same_contents(*scanned.sidecar), "it is what a scan gives");
  const Opened again = open_file();
  require(again.container != nullptr && !again.container->sidecar_location().made &&
              again.container->sidecar().same_contents(*scanned.sidecar),
          "it is found again");
}

void check_container(const FfrecordContainer& container, const RecordTable& table) {
  require(container.size() == table.size(), "there are as many records as the table says");
  require(container.verifies_checksums(), "checksums are verified");
  FingerprintBuilder builder;
  for (uint64_t i = 0; i < table.size(); ++i) builder.add(table.length(i));
  require(container.fingerprint() == builder.result(), "a fingerprint is the table's");
}

// --- Reading ------------------------------------------------------------------------------------

// Returns: whether the record can be read.
bool read_record(const FfrecordContainer& container, uint64_t i) {
  const Extent extent = container.extent(i);
  const RecordTable& table = container.table();
  require(extent.offset == table.offset(i) && extent.length == table.length(i),
          "an extent is the table's");
  require(container.place(i).offset == extent.offset, "a place is the extent's");
  std::vector<std::byte> framed(extent.length);
  extent.source->read(extent.offset, framed);
  Sample sample;
  if (!succeeds([&] { container.parse(i, framed, sample); })) return false;
  require(crc32(framed) == table.crc(i), "a record whose checksum is wrong is refused");
  fuzzing::check_sample(container, i, sample, framed);
  return true;
}

void read_records(const FfrecordContainer& container) {
  for (uint64_t i = 0; i < std::min(container.size(), kMostRead); ++i) read_record(container, i);
  fuzzing::verify_records(container, kMostVerified,
                          [&](uint64_t i) { return read_record(container, i); });
}

bool has_damaged_record(const Source& file, const RecordTable& table) {
  std::vector<std::byte> bytes;
  for (uint64_t i = 0; i < table.size(); ++i) {
    bytes.resize(table.length(i));
    file.read(table.offset(i), bytes);
    if (crc32(bytes) != table.crc(i)) return true;
  }
  return false;
}

// `index` never overwrites a file that is not this file's sidecar. It keeps the sections that
// cannot be rebuilt, and fails if they are damaged.
void check_indexing(const Source& file, const RecordTable& table, const Sidecar* own) {
  const std::vector<std::byte> before = contents(sidecar_uri(kFile));
  const bool built = succeeds([&] { build_sidecar(kFile); });
  const bool whole = own != nullptr && succeeds([&] { own->verify(); });
  // Sample records may have fields that are not supported.
  const bool scans = succeeds([&] { ffrecord::scan_records(file, table); });
  require(built || !whole || !scans || has_damaged_record(file, table),
          "a whole sidecar of this undamaged file is replaced");
  require(own != nullptr || !built, "a sidecar that is set aside is not replaced");
  if (!built) {
    require(contents(sidecar_uri(kFile)) == before, "nothing is written in a refused one's place");
    return;
  }
  const auto written = Sidecar::open(memory_file_system().open(sidecar_uri(kFile)));
  written->verify();
  const StoredSidecar scanned =
      sidecar_in_memory(ffrecord::scan_records(file, table), identify(file));
  require(written->payloads() == scanned.sidecar->payloads() &&
              written->fingerprint() == scanned.sidecar->fingerprint() &&
              written->identity() == identify(file),
          "what is built is what a scan gives");
  const SidecarSection* classes = own->section(kClassesSection);
  require(classes == nullptr || !classes->kept() || written->classes() == own->classes(),
          "class names are kept");
  const Opened opened = open_file();
  require(opened.container != nullptr && opened.warnings.size() == warnings_of(table),
          "what is built is used");
}

void check_pair(Bytes file, Bytes sidecar) {
  const fuzzing::PairFiles files(kFile, file, sidecar);
  const std::shared_ptr<const Source> source = memory_file_system().open(kFile);
  const Opened opened = open_file();
  std::unique_ptr<Sidecar> longer = fuzzing::sidecar_of_longer_file(sidecar, *source);
  if (opened.container == nullptr) {
    require(longer != nullptr || !succeeds([&] { RecordTable::read(*source, true); }),
            "what has a table and was not cut is opened");
    require(!succeeds([&] { build_sidecar(kFile); }), "what is not opened gets no sidecar");
    return;
  }
  const RecordTable& table = opened.container->table();
  std::unique_ptr<Sidecar> own = usable_sidecar(sidecar, *source, table);
  check_container(*opened.container, table);
  if (table.size() == 0) {
    require(opened.warnings.size() == warnings_of(table), "no record needs no sidecar");
  } else if (own != nullptr) {
    check_used(opened, *own);
  } else if (longer != nullptr && fuzzing::is_judged_damaged(opened)) {
    require(!table.has_checksum() || has_damaged_record(*source, table) ||
                longer->identity().first_crc == identify(*source).first_crc,
            "a sidecar made of another beginning is used where a record is damaged");
    own = std::move(longer);
  } else {
    check_set_aside(opened, *source);
  }
  read_records(*opened.container);
  require(std::ranges::equal(contents(sidecar_uri(kFile)), sidecar),
          "reading leaves the sidecar alone");
  check_indexing(*source, table, own.get());
}

// Changes the sidecar to belong to this file.
std::vector<std::byte> mended_sidecar(Bytes sidecar, Bytes file) {
  std::vector<std::byte> mended = fuzzing::copied(sidecar);
  const auto source = memory_source("the file", fuzzing::copied(file));
  fuzzing::mend_identity(mended, *source);
  succeeds([&] {
    const RecordTable table = RecordTable::read(*source, false);
    for (const std::byte* entry : fuzzing::directory_of(mended)) {
      const MutableBytes data = fuzzing::data_of(mended, entry);
      if (load_le<uint32_t>(entry + frx::kTypeAt) != kMetaSection) continue;
      if (data.size() < frx::kMetaBytes) continue;
      store_le<uint64_t>(data.data(), table.size());
      store_le<uint64_t>(data.data() + 8, record_bytes(table));
    }
  });
  fuzzing::mend_checksums(mended);
  mended.shrink_to_fit();
  return mended;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  fuzzing::PairFiles::cache_in_memory();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto [file, sidecar] = fuzzing::pair_of(fuzzing::as_bytes(data, size));
  check_pair(file, sidecar);
  std::vector<std::byte> right = fuzzing::mended_ffrecord(file);
  right.shrink_to_fit();
  check_pair(right, mended_sidecar(sidecar, right));
  return 0;
}
