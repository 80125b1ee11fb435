// A RecordIO file as a container. Its record table comes from the sidecar, else from scanning the
// heads of all records; an `.idx` beside the file is not read (docs/formats/recordio.md).
#pragma once

#include <memory>
#include <string>

#include "fuelrail/container/formats.h"

namespace fuelrail::recordio {

extern const FileFormat kFormat;

// Schema: as container/image_record.h makes it, with images where more than half of the records can
// begin with MXNet's image header. Uses the sidecar of `uri`; without one, scans the file and
// leaves one behind (beside the file, else in the cache directory, else in memory with a warning).
// Two processes may do so at once. Errors: NotFoundError, IoError; TruncatedError for an empty
// file, and for one that has fewer records than its sidecar says; CorruptError and TruncatedError
// where the scan meets damage; StateError when `keep_going` says so, with nothing written.
std::shared_ptr<const RecordFile> open_recordio(const std::string& uri,
                                                const OpenOptions& options = {});

// For copying. Errors: those of open_recordio, stream_of and keys_of.
std::unique_ptr<RecordStream> open_stream(const std::string& uri, uint64_t max_payload_bytes,
                                          const OpenOptions& options);

// Opens what is readable of a damaged file: reads all of it, reports what it passes over, and keeps
// the table of the readable records in memory. No sidecar is written. Where the file has one with
// checksums (sidecar_store.h says when that is so of a damaged file), records that are not in that
// one's table are passed over too, and the payloads of all others are verified when they are read;
// without it nothing verifies them. What is missing at the end is reported last. Errors:
// NotFoundError, IoError; TruncatedError for an empty file; CorruptError when no record is
// readable; StateError.
Salvage open_damaged(const std::string& uri, const ReportDamage& report,
                     const OpenOptions& options = {}, const ScanProgress& progress = {});

// For build_sidecar. The sidecar's table is read from the file; its checksums, where they are asked
// for, from all of it. Errors of `make`: those of open_recordio.
SidecarRecipe sidecar_recipe(std::shared_ptr<const Source> source, const Warn& warn);

}  // namespace fuelrail::recordio
