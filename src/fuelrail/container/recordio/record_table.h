// Makes the record table of a RecordIO file, and what goes with it into a sidecar: by hopping from
// head to head, or by reading everything.
#pragma once

#include <functional>
#include <memory>

#include "fuelrail/container/recordio/record_reader.h"
#include "fuelrail/container/scan_progress.h"
#include "fuelrail/container/sidecar/sidecar.h"
#include "fuelrail/container/sidecar/sidecar_writer.h"
#include "fuelrail/storage/source.h"

namespace fuelrail::recordio {

// From the heads, image headers and labels alone: no checksums. Errors: TruncatedError for an empty
// file; CorruptError and TruncatedError with path, record and offset; the source's.
SidecarWriter scan_heads(const Source& source, const ScanProgress& progress = {});

// From the whole file, with the checksum of every payload. Errors: as scan_heads.
SidecarWriter read_table(std::shared_ptr<const Source> source, const ScanProgress& progress = {});

// Of a file that may be damaged: damage is reported and passed over. Where `own`, the file's
// sidecar, is given, a record that is not in its table is damage too. A damaged file cannot tell
// its own checksums, nor whether it was one of images: they come from `own`; without it the table
// has no checksums, and the records that are left decide. Errors: CorruptError when no record is
// left; the source's; those of `own`.
SidecarWriter recover_table(std::shared_ptr<const Source> source,
                            const std::function<void(const Damage&)>& report, const Sidecar* own,
                            const ScanProgress& progress = {});

}  // namespace fuelrail::recordio
