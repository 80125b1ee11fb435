// The sidecar `X.frx` beside `X`: what fuelrail knows of a record file that its format cannot hold
// (docs/formats/frx.md). A versioned, sectioned, checksummed little-endian file; unknown sections
// are skipped. It is mapped, not loaded.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/container/container.h"
#include "fuelrail/storage/sink.h"
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
};

// Ties a sidecar to its file: size and CRC-32 of the first and the last 4 KiB.
struct FileIdentity {
  uint64_t size_bytes = 0;
  uint32_t first_crc = 0;
  uint32_t last_crc = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};
FileIdentity identify(const Source& data);

// Views into the mapped file. Immutable. Threads: any number at once.
class Sidecar {
 public:
  // Checks the header, the sections' bounds and the header checksum, and the checksums of the small
  // sections; the record table's entries are bounds-checked as they are used. Errors: CorruptError,
  // TruncatedError, UnsupportedError (a newer major version).
  static std::unique_ptr<Sidecar> open(MappedBytes file, const std::string& uri);
  virtual ~Sidecar() = default;

  virtual const FileIdentity& identity() const = 0;
  virtual uint64_t records() const = 0;
  virtual RecordEntry record(uint64_t i) const = 0;  // Requires: i < records()
  virtual bool has_checksums() const = 0;
  virtual uint32_t payload_crc(uint64_t i) const = 0;  // Requires: has_checksums()
  virtual const std::vector<std::string>& classes() const = 0;
  virtual bool has_classes() const = 0;
  virtual LabelSummary labels() const = 0;
  virtual Fingerprint fingerprint() const = 0;
};

// Collects what becomes a sidecar, record by record. Memory: 20 bytes a record.
class SidecarWriter {
 public:
  SidecarWriter();
  ~SidecarWriter();

  void add_record(RecordEntry entry, uint32_t payload_crc);
  void add_record(RecordEntry entry);  // without a checksum: then the file has none at all
  void set_classes(std::vector<std::string> classes);
  void set_labels(LabelSummary labels);

  // Writes the file's bytes and commits. The same calls give the same bytes.
  void write(const FileIdentity& identity, Sink& sink);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fuelrail
