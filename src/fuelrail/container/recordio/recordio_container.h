// A RecordIO file as a container. Its record table comes from the sidecar, or else from scanning
// the heads of all records. An `.idx` beside the file is not read (docs/formats/recordio.md).
#pragma once

#include <memory>
#include <string>

#include "fuelrail/container/formats.h"

namespace fuelrail::recordio {

extern const FileFormat kFormat;

// Schema: as container/image_record.h defines it. The file has images if more than half of the
// records can begin with MXNet's image header. Uses the sidecar of `uri`; if there is none, scans
// the file and writes one (beside the file, else in the cache directory, else in memory with a
// warning). Several processes may open the same file at once. Errors: NotFoundError, IoError;
// TruncatedError for an empty file, and for a file with fewer records than its sidecar says;
// CorruptError and TruncatedError for damage found by the scan; StateError when `keep_going`
// returns false, with nothing written.
std::shared_ptr<const RecordFile> open_recordio(const std::string& uri,
                                                const OpenOptions& options = {});

// Opens the file for copying its records. Errors: those of open_recordio, stream_of and keys_of.
std::unique_ptr<RecordStream> open_stream(const std::string& uri, uint64_t max_payload_bytes,
                                          const OpenOptions& options);

// Opens the readable records of a damaged file: reads all of it, reports skipped parts, and keeps
// the table of the readable records in memory. Writes no sidecar. If the file has a sidecar with
// checksums (sidecar_store.h says when it belongs to a damaged file), records that are not in its
// table are skipped too, and the payloads of all others are verified when they are read. Without a
// sidecar, payloads are not verified. Missing records at the end are reported last. Errors:
// NotFoundError, IoError; TruncatedError for an empty file; CorruptError when no record is
// readable; StateError.
Salvage open_damaged(const std::string& uri, const ReportDamage& report,
                     const OpenOptions& options = {}, const ScanProgress& progress = {});

// For build_sidecar. `make` builds the table from the records' heads or, if `checksums` is set,
// from the whole file. Errors of `make`: those of open_recordio.
SidecarRecipe sidecar_recipe(std::shared_ptr<const Source> source, const Warn& warn);

}  // namespace fuelrail::recordio
