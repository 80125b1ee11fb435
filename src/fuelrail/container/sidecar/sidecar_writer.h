// Writes the sidecar of a record file (sidecar.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/container/file_identity.h"
#include "fuelrail/container/fingerprint.h"
#include "fuelrail/container/sidecar/sidecar.h"
#include "fuelrail/storage/sink.h"

namespace fuelrail {

// Builds a LabelSummary record by record.
class LabelTally {
 public:
  void add(Bytes labels);  // of one record: float32, little-endian, unaligned
  // If no record was added: width 1, integral.
  LabelSummary summary() const;

 private:
  std::optional<int64_t> width_;
  bool integral_ = true;
};

// Whether a label can be an int64: a whole number within its range, not NaN.
bool is_integral_label(float label);

// Collects the hints of a file's records.
class HintsBuilder {
 public:
  // Adds what `hint_maker` (decode/decoder.h) made of the image of a record whose payload has this
  // CRC-32. Empty hints, and hints above kMaxHintsBytes, are not stored. Requires: `record` is
  // above those of earlier calls.
  void add(uint64_t record, uint32_t payload_crc, Bytes hints);

  // The number of records that have hints.
  uint64_t hinted_records() const { return hinted_records_; }

  // The data of the section; empty if no record has hints. Requires: `records` is above the last
  // record that was added.
  std::vector<std::byte> section(uint64_t records) const;

 private:
  std::vector<std::byte> ends_;  // of the records up to the last one that has hints
  std::vector<std::byte> hints_;
  uint64_t hinted_records_ = 0;
};

// Collects the content of a sidecar record by record. Memory: 20 bytes per record, or 4 with
// `add_length`, the names and the hints.
class SidecarWriter {
 public:
  void add_record(RecordEntry entry, uint32_t payload_crc);
  void add_record(RecordEntry entry);  // without a checksum: then no record has one

  // For a file that has its own record table: the sidecar has none. Without `payload_crc`, no
  // record has a checksum in the sidecar. Requires: all records are added this way, or none.
  void add_length(uint64_t length, std::optional<uint32_t> payload_crc = {});

  // The records added so far. `payload_crc` requires has_checksums(), `record` requires that the
  // records were added by `add_record`; both require i < records().
  uint64_t records() const { return fingerprint_.result().records; }
  bool has_table() const { return has_table_; }
  bool has_checksums() const { return all_have_checksums_; }
  RecordEntry record(uint64_t i) const;
  uint32_t payload_crc(uint64_t i) const;

  void set_classes(const std::vector<std::string>& classes);  // Empty: writes no section.
  void set_labels(LabelSummary labels);  // Default: the records are not images with labels.
  // The labels' summary, or the fields of sample records. Requires: set_labels is not called too.
  void set_payloads(const PayloadKind& kind);
  // The class names of label fields, except those of a field `label`, which set_classes takes.
  // Empty: writes no section.
  void set_field_classes(const FieldClasses& classes);
  void set_keys(std::span<const uint64_t> keys);  // Requires: one per record.
  // Of the next record. `kept`: the record does not have it, so it cannot be rebuilt. Requires:
  // called for all records with the same `kept`, or for none.
  void add_name(std::string_view name, bool kept = false);

  // The hints of the records. Default: no record has any.
  HintsBuilder& hints() { return hints_; }

  // Adds another section. `kept`: it cannot be rebuilt, so `keep_sections_of` copies it to a new
  // sidecar. Requires: no other section has this type.
  void add_section(uint32_t type, Bytes data, bool kept);

  // Copies the sections of `old` that cannot be rebuilt, even those of unknown types, except types
  // that this writer already has. Never copies the fingerprint, the table, checksums, labels or
  // hints, whatever their flags say, because this writer builds its own. `left_out`: one more type
  // that is not copied; 0 = none. Requires: `old` belongs to a file with the same records. Errors:
  // CorruptError.
  void keep_sections_of(const Sidecar& old, uint32_t left_out = 0);

  // Appends the sidecar's bytes to `sink`; the caller commits the sink. Equal calls give equal
  // bytes. To publish a data file and its sidecar, write both, commit the sidecar, then commit the
  // data file. Errors: those of the sink.
  void write_to(const FileIdentity& identity, Sink& sink) const;

 private:
  struct Section {
    uint32_t type = 0;
    bool kept = false;
    std::vector<std::byte> data;
  };

  std::vector<std::byte> table_;
  std::vector<std::byte> checksums_;
  std::vector<std::byte> name_ends_;
  std::string names_;
  bool names_are_kept_ = false;
  HintsBuilder hints_;
  FingerprintBuilder fingerprint_;
  bool has_table_ = true;
  bool all_have_checksums_ = true;
  std::vector<Section> sections_;  // all sections but the table, checksums, names and hints
};

}  // namespace fuelrail
