// Reads the records of a `.bzna` file from front to back: for its sidecar, and to find them in a
// damaged file.
#pragma once

#include "fuelrail/container/bzna/outer_file.h"
#include "fuelrail/container/damage.h"
#include "fuelrail/container/scan_progress.h"
#include "fuelrail/container/sidecar/sidecar_writer.h"
#include "fuelrail/storage/source.h"

namespace fuelrail::bzna {

// Reads all records. Returns a sidecar with their lengths, checksums and names, and the table of
// stills. Errors: those of read_nested_file, with the record; those of the source; StateError.
SidecarWriter scan_records(const Source& source, const mp4::SampleTable& records,
                           const ScanProgress& progress);

// Finds the records of a file whose tables are missing or damaged: each begins with a box `ftyp`
// and ends with the later of the next boxes `mdat` and `moov`. Their labels are those of
// the records themselves. Calls `report` for each range of bytes between records that is not a
// record, and for the missing tables. Errors: those of the source; StateError.
RecordTable find_records(const Source& source, const ReportDamage& report,
                         const ScanProgress& progress);

}  // namespace fuelrail::bzna
