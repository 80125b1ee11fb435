// The sidecar `X.frx` beside a record file `X` holds the data that the file's format cannot hold
// (docs/formats/frx.md). It is a little-endian file with a version, sections and checksums; unknown
// sections are skipped. sidecar_store.h decides where sidecars are stored.
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
#include "fuelrail/container/sample.h"
#include "fuelrail/container/sidecar/field_classes.h"
#include "fuelrail/container/sidecar/hints_table.h"
#include "fuelrail/container/sidecar/sidecar_format.h"
#include "fuelrail/container/sidecar/sidecar_section.h"
#include "fuelrail/storage/source.h"

namespace fuelrail {

// One entry of the record table.
struct RecordEntry {
  uint64_t offset = 0;
  uint64_t length = 0;  // framed bytes
};

// Describes the labels of a data file, as found while it was written or scanned.
struct LabelSummary {
  int64_t width = 1;      // labels per record; -1 if it differs between records
  bool integral = false;  // every label is a whole number that fits into int64
  friend bool operator==(const LabelSummary&, const LabelSummary&) = default;
};

// What the payloads of a data file are: at most one member is set. Neither: raw bytes.
struct PayloadKind {
  std::optional<LabelSummary> labels{};  // image records, with these labels
  std::optional<Schema> samples{};       // sample records, with these fields
  friend bool operator==(const PayloadKind&, const PayloadKind&) = default;
};

// The types of sections. The values are frozen: four letters, the first in the lowest byte.
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
inline constexpr uint32_t kFieldsSection = section_type("FLDS");
inline constexpr uint32_t kSchemaSection = section_type("SCHM");
inline constexpr uint32_t kKeysSection = section_type("KEYS");
inline constexpr uint32_t kNamesSection = section_type("NAME");
inline constexpr uint32_t kHintsSection = section_type("JENT");

// An opened sidecar. Small sections are kept in memory. If there are larger sections, the file
// stays open (sidecar_section.h). If the file changes after it was opened, a read either throws or
// returns the old data. Immutable. Threads: any number at once.
class Sidecar {
 public:
  // Checks the header, the directory, the bounds of every section, and the checksums of sections
  // without blocks (those up to 1 MiB). Blocks of larger sections are checked when they are used. A
  // small file takes one read. A larger one takes a second round of parallel reads, which also
  // loads the first and the last record of the table, and hints of up to kMaxWholeHintsBytes in
  // all. `head`: the first kHeadReadBytes of the file (or all of it), if the caller has already
  // read them. Damaged hints are no error (hints_refusal). Errors: CorruptError, TruncatedError,
  // UnsupportedError (a different major version); those of the source.
  static constexpr uint64_t kHeadReadBytes = uint64_t{256} << 10;
  static std::unique_ptr<Sidecar> open(std::shared_ptr<const Source> file,
                                       std::vector<std::byte> head = {});
  Sidecar& operator=(Sidecar&&) = delete;

  const std::string& uri() const { return uri_; }
  const FileIdentity& identity() const { return identity_; }
  const Fingerprint& fingerprint() const { return fingerprint_; }
  uint64_t records() const { return fingerprint_.records; }

  // The record table. Every entry is inside the data file. Requires: has_table(), i < records().
  // Errors: CorruptError.
  bool has_table() const { return table_ != nullptr; }
  RecordEntry record(uint64_t i) const;
  // Fills `into` with the entries from `begin` on, in one read. Requires: at most kMostAtOnce
  // entries.
  static constexpr size_t kMostAtOnce = 3;
  void read_records(uint64_t begin, std::span<RecordEntry> into) const;

  // The CRC-32 of record i's payload. Requires: has_checksums(), i < records(). Errors:
  // CorruptError.
  bool has_checksums() const { return checksums_ != nullptr; }
  uint32_t payload_crc(uint64_t i) const;

  // The record's key in the `.idx` of the file that it was copied from. Requires: has_keys(), i <
  // records(). Errors: CorruptError.
  bool has_keys() const { return keys_ != nullptr; }
  uint64_t key(uint64_t i) const;

  // Appends the record's name, for example that of its source file, to `out`. Requires:
  // has_names(), i < records(). Errors: CorruptError.
  bool has_names() const { return names_ != nullptr; }
  void append_name(uint64_t i, std::vector<std::byte>& out) const;
  std::string name(uint64_t i) const;
  // Whether only the sidecar has the names, so that a copy must keep them.
  bool keeps_names() const { return names_ != nullptr && names_->kept(); }

  // What `hint_maker` (decode/decoder.h) made of the record's image; empty if it made none.
  // Requires: has_hints(), i < records(). Lifetime: a view into `storage`. Errors: CorruptError if
  // they were made of a payload with another CRC-32; if the hints are not in memory, CorruptError,
  // and those of the source.
  bool has_hints() const { return hints_.has_value(); }
  Bytes hints(uint64_t i, uint32_t payload_crc, std::vector<std::byte>& storage) const {
    return hints_->hints(i, payload_crc, storage);
  }
  // The number of records that have hints. Requires: has_hints(). Errors: those of `hints`.
  uint64_t hinted_records() const { return hints_->hinted_records(); }
  // Why has_hints() is false although the file has hints; empty if it has none.
  const std::string& hints_refusal() const { return hints_refusal_; }

  const std::vector<std::string>& classes() const { return classes_; }  // empty if it has none

  // The class names of the fields of sample records, except those of a field `label`, which are
  // `classes`.
  const FieldClasses& field_classes() const { return field_classes_; }

  const PayloadKind& payloads() const { return payloads_; }

  // Empty if the records are not images with labels.
  const std::optional<LabelSummary>& labels() const { return payloads_.labels; }

  // The section of this type, which may be unknown to this version of fuelrail; null if there is
  // none.
  const SidecarSection* section(uint32_t type) const;
  const std::vector<SidecarSection>& sections() const { return sections_; }

  // Whether the two sidecars are equal byte for byte. Compares only the headers: the header's
  // checksum covers the directory, which holds the checksum of every section.
  bool same_contents(const Sidecar& other) const;

  // Reads the whole sidecar and checks every checksum, every entry, and the fingerprint of the
  // table. Errors: CorruptError.
  void verify() const;

 private:
  class File;  // used while the sidecar is being opened
  struct PlacedSection;

  explicit Sidecar(const std::string& uri) : uri_(uri) {}
  void read_header(const File& file);
  void read_sections(File& file);
  void read_section(const File& file, const PlacedSection& section);
  void read_meta();
  void read_classes();
  void read_labels();
  void read_fields();
  void read_field_classes();
  const SidecarSection* names_section() const;
  void read_hints();
  const SidecarSection* entries_section(uint32_t type, uint64_t entry_bytes) const;

  std::string uri_;
  std::array<std::byte, frx::kHeaderBytes> header_{};
  std::atomic<int64_t> may_keep_ = static_cast<int64_t>(kMaxKeptBytes);  // bytes to keep
  std::atomic<int64_t> may_keep_hints_ = static_cast<int64_t>(kMaxKeptBytes);
  FileIdentity identity_;
  Fingerprint fingerprint_;
  std::vector<SidecarSection> sections_;
  const SidecarSection* table_ = nullptr;
  const SidecarSection* checksums_ = nullptr;
  const SidecarSection* keys_ = nullptr;
  const SidecarSection* names_ = nullptr;
  std::optional<HintsTable> hints_;
  std::string hints_refusal_;
  std::vector<std::string> classes_;
  FieldClasses field_classes_;
  PayloadKind payloads_;
};

}  // namespace fuelrail
