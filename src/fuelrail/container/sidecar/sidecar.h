// The sidecar `X.frx` beside `X`: what fuelrail knows of a record file that its format cannot hold
// (docs/formats/frx.md). A versioned, sectioned, checksummed little-endian file; unknown sections
// are skipped. Where sidecars lie: sidecar_store.h.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/container/container.h"
#include "fuelrail/container/file_identity.h"
#include "fuelrail/container/fingerprint.h"
#include "fuelrail/container/sidecar/sidecar_format.h"
#include "fuelrail/container/sidecar/sidecar_section.h"
#include "fuelrail/storage/source.h"

namespace fuelrail {

// One record of the table.
struct RecordEntry {
  uint64_t offset = 0;
  uint64_t length = 0;  // framed bytes
};

// What a data file's labels are, found while it was written or scanned.
struct LabelSummary {
  int64_t width = 1;      // labels a record; -1 when it differs
  bool integral = false;  // every label is a whole number that int64 and float32 both hold
  friend bool operator==(const LabelSummary&, const LabelSummary&) = default;
};

// The kinds of sections. Frozen values: four letters, the first in the lowest byte.
constexpr uint32_t section_type(const char (&letters)[5]) {
  uint32_t type = 0;
  for (int i = 0; i < 4; ++i) type |= uint32_t{static_cast<uint8_t>(letters[i])} << (8 * i);
  return type;
}
inline constexpr uint32_t kMetaSection = section_type("META");
inline constexpr uint32_t kRecordsSection = section_type("RECS");
inline constexpr uint32_t kChecksumsSection = section_type("CRCS");
inline constexpr uint32_t kClassesSection = section_type("CLAS");
inline constexpr uint32_t kLabelsSection = section_type("LABL");
inline constexpr uint32_t kKeysSection = section_type("KEYS");

// An opened sidecar. Its small sections are in memory; the file stays open where it has others
// (sidecar_section.h). So a change of the file while it is in use is an error, or not seen.
// Immutable. Threads: any number at once.
class Sidecar {
 public:
  // Checks the header and the directory, every section's bounds, and the checksums of sections
  // without blocks (those up to 1 MiB); blocks of larger ones are checked as they are used. Takes
  // one read where the file is small, else a second round, of several at once, after which the
  // first and the last record are known. `head`: the first read, where it was made already: the
  // first kHeadReadBytes of the file, or all of it.
  // Errors: CorruptError, TruncatedError, UnsupportedError (a newer major version); the source's.
  static constexpr uint64_t kHeadReadBytes = uint64_t{256} << 10;
  static std::unique_ptr<Sidecar> open(std::shared_ptr<const Source> file,
                                       std::vector<std::byte> head = {});
  Sidecar& operator=(Sidecar&&) = delete;

  const std::string& uri() const { return uri_; }
  const FileIdentity& identity() const { return identity_; }
  const Fingerprint& fingerprint() const { return fingerprint_; }
  uint64_t records() const { return fingerprint_.records; }

  // The record table. An entry is inside the data file. Requires: has_table(), i < records().
  // Errors: CorruptError.
  bool has_table() const { return table_ != nullptr; }
  RecordEntry record(uint64_t i) const;
  // The same of those from `begin` on, in one read. Requires: at most kMostAtOnce.
  static constexpr size_t kMostAtOnce = 3;
  void read_records(uint64_t begin, std::span<RecordEntry> into) const;

  // CRC-32 of every payload. Requires: has_checksums(), i < records(). Errors: CorruptError.
  bool has_checksums() const { return checksums_ != nullptr; }
  uint32_t payload_crc(uint64_t i) const;

  // The record's key in the `.idx` of the file that it came from. Requires: has_keys(), i <
  // records(). Errors: CorruptError.
  bool has_keys() const { return keys_ != nullptr; }
  uint64_t key(uint64_t i) const;

  const std::vector<std::string>& classes() const { return classes_; }  // empty without the section

  // Empty when the records are not images with labels.
  const std::optional<LabelSummary>& labels() const { return labels_; }

  // Any section, also those that this version knows nothing of. Null when there is none.
  const SidecarSection* section(uint32_t type) const;
  const std::vector<SidecarSection>& sections() const { return sections_; }

  // Whether both are the same file, byte for byte: the header's checksum covers the directory, and
  // that holds the checksum of every section.
  bool same_contents(const Sidecar& other) const;

  // Checks every checksum and entry, and that the table gives the fingerprint. Reads all of it.
  // Errors: CorruptError.
  void verify() const;

 private:
  class File;  // while it is opened

  explicit Sidecar(const std::string& uri) : uri_(uri) {}
  void read_header(const File& file);
  void read_sections(File& file);
  void read_meta();
  void read_classes();
  void read_labels();
  const SidecarSection* entries_section(uint32_t type, uint64_t entry_bytes) const;

  std::string uri_;
  std::array<std::byte, frx::kHeaderBytes> header_{};
  std::atomic<int64_t> may_keep_ = static_cast<int64_t>(kMaxKeptBytes);  // by its sections
  FileIdentity identity_;
  Fingerprint fingerprint_;
  std::vector<SidecarSection> sections_;
  const SidecarSection* table_ = nullptr;
  const SidecarSection* checksums_ = nullptr;
  const SidecarSection* keys_ = nullptr;
  std::vector<std::string> classes_;
  std::optional<LabelSummary> labels_;
};

}  // namespace fuelrail
