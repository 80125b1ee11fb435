// A `.bzna` file as a container, for the engine, `info`, `verify` and all other code that works
// with containers. A `.bzna` file is an MP4 file; each of its records is an MP4 file of its own
// (nested_file.h).
#pragma once

#include <memory>
#include <string>

#include "fuelrail/container/formats.h"

namespace fuelrail::bzna {

extern const FileFormat kFormat;

// Schema: {image: image; label: tensor int64; name: bytes}. A record without a label has the label
// -1, and one without a name an empty name. `options.track` chooses the image: "bzna_thumb", at
// most 512 x 512, or "bzna_input", the image in full size; by default the thumbnail or, if the
// record has none, the image in full size. The label is that of the
// file's track `bzna_target`, not that of the record. Sample::id is the record's number.
//
// Opening reads the file's tables, and no record; it writes no sidecar. Without a sidecar,
// `extent` is the whole record. With the sidecar that packing and `fuelrail index` write, it is the
// bitstream of the chosen image, and the image's size is known without reading it. The fingerprint
// is that of the lengths of the records in both cases.
//
// Requires: `options.track` is one of the two, or empty. `options.split` is ignored. Errors:
// NotFoundError, IoError; those of read_record_table. Errors of `parse`: CorruptError for a damaged
// record; DecodeError for a record without the chosen track, for an empty bitstream, and for one
// without parameters of its decoder; UnsupportedError for an image that is neither H.265 nor H.264.
std::shared_ptr<const RecordFile> open_bzna(const std::string& uri,
                                            const OpenOptions& options = {});

// Opens the readable records of a file that may be damaged or truncated anywhere. If its tables are
// damaged, the records are searched for (file_scan.h), and `report` is called for the bytes between
// them. Errors: NotFoundError; IoError; StateError.
Salvage open_damaged(const std::string& uri, const ReportDamage& report, const OpenOptions& options,
                     const ScanProgress& progress);

}  // namespace fuelrail::bzna
