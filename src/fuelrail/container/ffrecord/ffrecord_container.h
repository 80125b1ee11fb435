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
// is byte for byte the payload of a `.rec` record. The sidecar tells which of the two it is. If
// there is no sidecar, the beginnings of all records are read and a sidecar is written, as in
// `open_recordio`. An FFRecord file may hold any bytes, which could look like MXNet's header by
// chance. Its records are therefore images only if, in more than half of them, the header is
// followed by an image that fuelrail decodes.
//
// The file itself has offsets and checksums, so the sidecar has no record table and no checksums.
// The sidecar has a summary of the labels, the class names, and other data that cannot be rebuilt.
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

// The rules that recognize the sidecar of a file with this table, even if the file is damaged or
// truncated. `head`: the file's first bytes, so that they are not read again. Default: they are
// read if they are needed. Lifetime: `source`, `table` and `head` outlive the rules.
SidecarRules sidecar_rules(const Source& source, const RecordTable& table, Bytes head = {});

// For build_sidecar. `make` reads the beginnings of all records again and, if `checksums` is set,
// verifies all records. Errors: those of RecordTable::read. Errors of `make`: those of the source;
// CorruptError; StateError.
SidecarRecipe sidecar_recipe(std::shared_ptr<const Source> source, const Warn& warn);

// Checks that `payload` is the whole record i and has the right checksum. Errors: TruncatedError or
// CorruptError, without the record's place.
void check_record(const RecordTable& table, uint64_t i, Bytes payload);

// The location of record i. Errors: CorruptError for a record longer than kMaxRecordBytes.
Extent extent_of(const std::shared_ptr<const Source>& source, const RecordTable& table, uint64_t i);

}  // namespace fuelrail::ffrecord
