// Determines from the beginnings of an FFRecord file's records whether they are images or samples,
// and what their labels or fields are.
//
// A single damaged label must not change the label type of the whole file. So if a record's labels
// differ in kind from the earlier ones (the first fraction, another number of labels), the whole
// record is read, and its labels count only if its checksum is right; so it is with the fields of a
// sample record. An intact file has only one or two such records. A damaged record does not count
// as an image or sample record.
#pragma once

#include <cstdint>

#include "fuelrail/container/ffrecord/record_table.h"
#include "fuelrail/container/scan_progress.h"
#include "fuelrail/container/sidecar/sidecar_writer.h"
#include "fuelrail/storage/source.h"

namespace fuelrail::ffrecord {

// Reads many records in parallel, and neighbouring records in one read. `records`: the number of
// records to scan, from the first one on. Errors: those of the source, with the record; StateError.
SidecarWriter scan_records(const Source& source, const RecordTable& table,
                           const ScanProgress& progress = {}, uint64_t records = UINT64_MAX);

}  // namespace fuelrail::ffrecord
