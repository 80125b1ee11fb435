// An FFRecord file as a container, for the engine, `info`, `verify` and all other code that works
// with containers.
#pragma once

#include <memory>
#include <string>

#include "fuelrail/container/ffrecord/record_table.h"
#include "fuelrail/container/formats.h"

namespace fuelrail::ffrecord {

extern const FileFormat kFormat;

// Schema: as container/image_record.h defines it, {image; label} or {data: bytes}. An image record
// is byte for byte the payload of a `.rec` record. The sidecar says what the records are. If there
// is none, the beginnings of all records are read and a sidecar is written, as `open_recordio`
// does. An FFRecord file may hold any bytes, which could look like MXNet's header by chance. So the
// file has images only if, in more than half of the records, the header is followed by an image
// that fuelrail decodes.
//
// The file itself has offsets and checksums, so the sidecar has no record table and no checksums.
// It has a summary of the labels, the class names, and other data that cannot be rebuilt.
class FfrecordContainer : public RecordFile {
 public:
  using RecordFile::RecordFile;
  virtual const RecordTable& table() const = 0;
};

// Several processes may open a file at once. Errors: NotFoundError, IoError; those of
// RecordTable::read; StateError when `keep_going` returns false, with nothing written.
std::shared_ptr<const FfrecordContainer> open_ffrecord(const std::string& uri,
                                                       const OpenOptions& options = {});

// Opens the remaining records of a file that may be truncated anywhere after its table. Calls
// `report` for the missing end. Errors: those of RecordTable::read_of_cut_file.
Salvage open_damaged(const std::string& uri, const ReportDamage& report, const OpenOptions& options,
                     const ScanProgress& progress);

// Recognizes the sidecars of a file with this table, even if it is damaged or truncated. Lifetime:
// both outlive the rules.
SidecarRules sidecar_rules(const Source& source, const RecordTable& table);

// For build_sidecar: reads the beginnings of all records again and, with checksums, verifies them.
// Errors: those of RecordTable::read; of `make`: those of the source, CorruptError, StateError.
SidecarRecipe sidecar_recipe(std::shared_ptr<const Source> source, const Warn& warn);

// Errors: TruncatedError or CorruptError unless `payload` is all of record i and its checksum is
// right; without the place.
void check_record(const RecordTable& table, uint64_t i, Bytes payload);

// The location of record i. Errors: CorruptError for a record longer than kMaxRecordBytes.
Extent extent_of(const std::shared_ptr<const Source>& source, const RecordTable& table, uint64_t i);

}  // namespace fuelrail::ffrecord
