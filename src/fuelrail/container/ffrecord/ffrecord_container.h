// An FFRecord file as a container: for the engine, `info`, `verify` and everything else that knows
// containers only.
#pragma once

#include <memory>
#include <string>

#include "fuelrail/container/ffrecord/record_table.h"
#include "fuelrail/container/formats.h"

namespace fuelrail::ffrecord {

extern const FileFormat kFormat;

// Schema: as container/image_record.h makes it, {image; label} or {data: bytes}. An image record is
// byte for byte the payload of a `.rec` record. What the records are the sidecar says; without one,
// the beginnings of all records are looked at, and a sidecar is left behind, as `open_recordio`
// does. As a file may hold anything, whose first bytes may look like MXNet's header by chance, it
// is one of images where behind that header, in more than half of the records, begins an image that
// fuelrail decodes.
//
// The file has offsets and checksums itself: the sidecar has no record table and no checksums, only
// what the labels are, class names, and what else cannot be rebuilt.
class FfrecordContainer : public RecordFile {
 public:
  using RecordFile::RecordFile;
  virtual const RecordTable& table() const = 0;
};

// Two processes may open a file at once. Errors: NotFoundError, IoError; those of
// RecordTable::read; StateError when `keep_going` says so, with nothing written.
std::shared_ptr<const FfrecordContainer> open_ffrecord(const std::string& uri,
                                                       const OpenOptions& options = {});

// What is left of a file that may be cut anywhere behind its table; `report` hears of the end that
// is missing. Errors: those of RecordTable::read_of_cut_file.
Salvage open_damaged(const std::string& uri, const ReportDamage& report, const OpenOptions& options,
                     const ScanProgress& progress);

// Which sidecars are those of a file with this table, be it damaged or cut. Lifetime: of both.
SidecarRules sidecar_rules(const Source& source, const RecordTable& table);

// For build_sidecar: looks at all records anew, and verifies their checksums where it is to.
// Errors: those of RecordTable::read; of `make`: the source's, CorruptError, StateError.
SidecarRecipe sidecar_recipe(std::shared_ptr<const Source> source, const Warn& warn);

// Errors: TruncatedError or CorruptError unless `payload` is all of record i, and its checksum
// right; without the place.
void check_record(const RecordTable& table, uint64_t i, Bytes payload);

// Where record i lies. Errors: CorruptError for one longer than any can be.
Extent extent_of(const std::shared_ptr<const Source>& source, const RecordTable& table, uint64_t i);

}  // namespace fuelrail::ffrecord
