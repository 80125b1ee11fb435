// Makes the sidecar of a record file (sidecar.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/container/file_identity.h"
#include "fuelrail/container/fingerprint.h"
#include "fuelrail/container/sidecar/sidecar.h"
#include "fuelrail/storage/sink.h"

namespace fuelrail {

// Makes a LabelSummary, record by record.
class LabelTally {
 public:
  void add(Bytes labels);  // of one record: float32, little-endian, at any alignment
  // Without any record: width 1, integral.
  LabelSummary summary() const;

 private:
  std::optional<int64_t> width_;
  bool integral_ = true;
};

// Whether a label can be an int64: whole, and neither NaN nor beyond int64.
bool is_integral_label(float label);

// Collects what becomes a sidecar, record by record. Memory: 20 bytes a record, or none with
// `add_length`.
class SidecarWriter {
 public:
  void add_record(RecordEntry entry, uint32_t payload_crc);
  void add_record(RecordEntry entry);  // without a checksum: then the file has none at all

  // For a file that says itself where its records lie and what their checksums are (FFRecord): the
  // sidecar has neither table nor checksums. Requires: all records are added by this, or none.
  void add_length(uint64_t length);

  // Of what was added so far. Requires, of the last two: has_checksums(), i < records().
  uint64_t records() const { return fingerprint_.result().records; }
  bool has_checksums() const { return has_table_ && all_have_checksums_; }
  RecordEntry record(uint64_t i) const;
  uint32_t payload_crc(uint64_t i) const;

  void set_classes(const std::vector<std::string>& classes);  // Without any: no section.
  void set_labels(LabelSummary labels);  // Default: the records are not images with labels.
  void set_keys(std::span<const uint64_t> keys);  // Requires: one a record.

  // Another section. `kept`: it cannot be rebuilt, so a new sidecar takes it over.
  // Requires: no other section has this type.
  void add_section(uint32_t type, Bytes data, bool kept);

  // Takes along what cannot be rebuilt, known sections or not, and was not set here; but no table,
  // checksums or labels: those are this writer's, whatever the old ones' flags say; nor the section
  // of the type `left_out`, where one is given. Requires: `old` belongs to the same file. Errors:
  // CorruptError.
  void keep_sections_of(const Sidecar& old, uint32_t left_out = 0);

  // Appends the file's bytes to `sink`; the caller commits. The same calls give the same bytes.
  // A data file and its sidecar are published in this order: write both, commit the sidecar, commit
  // the data file. Errors: the sink's.
  void write_to(const FileIdentity& identity, Sink& sink) const;

 private:
  struct Section {
    uint32_t type = 0;
    bool kept = false;
    std::vector<std::byte> data;
  };

  std::vector<std::byte> table_;
  std::vector<std::byte> checksums_;
  FingerprintBuilder fingerprint_;
  bool has_table_ = true;
  bool all_have_checksums_ = true;
  std::vector<Section> sections_;  // all others
};

}  // namespace fuelrail
