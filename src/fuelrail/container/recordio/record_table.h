// Builds the record table and the other data of a RecordIO file's sidecar, from the records' heads
// or from the whole file.
#pragma once

#include <functional>
#include <memory>

#include "fuelrail/container/hint_workers.h"
#include "fuelrail/container/recordio/record_reader.h"
#include "fuelrail/container/scan_progress.h"
#include "fuelrail/container/sidecar/sidecar.h"
#include "fuelrail/container/sidecar/sidecar_writer.h"
#include "fuelrail/storage/source.h"

namespace fuelrail::recordio {

// Reads only heads and the beginnings of payloads (payload.h), so the table has no checksums.
// Errors: TruncatedError for an empty file; CorruptError and TruncatedError with path, record and
// offset; those of the source.
SidecarWriter scan_heads(const Source& source, const ScanProgress& progress = {});

// Reads the whole file, and adds the checksum of every payload, and hints if there is a function
// that makes them. Errors: those of scan_heads.
SidecarWriter read_table(std::shared_ptr<const Source> source, const ScanProgress& progress = {},
                         const HintOptions& hints = {});

// Builds the table of a file that may be damaged: damage is reported and skipped. `own`: the file's
// sidecar, or null. If `own` is given, a record that is not in its table counts as damage too, and
// checksums and the kind of the payloads are copied from `own`, because a damaged file cannot
// provide them. If `own` is null, the table has no checksums, and the kind is that of the remaining
// records. Errors:
// CorruptError when no record remains; those of the source; those of `own`.
SidecarWriter recover_table(std::shared_ptr<const Source> source,
                            const std::function<void(const Damage&)>& report, const Sidecar* own,
                            const ScanProgress& progress = {});

}  // namespace fuelrail::recordio
