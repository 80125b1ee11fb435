// Finds out what the records of an FFRecord file are, from their beginnings.
//
// A damaged label must not change the labels of the whole file: a record whose labels are of
// another kind than those before (no whole number, another number of them) is believed only if its
// checksum is right, for which it is read whole. That is a record or two of a sound file. One that
// is damaged counts as no image record.
#pragma once

#include <cstdint>

#include "fuelrail/container/ffrecord/record_table.h"
#include "fuelrail/container/scan_progress.h"
#include "fuelrail/container/sidecar/sidecar_writer.h"
#include "fuelrail/storage/source.h"

namespace fuelrail::ffrecord {

// Many reads at once, neighbours as one. `records`: the first ones alone. Errors: the source's,
// with the record; StateError.
SidecarWriter scan_records(const Source& source, const RecordTable& table,
                           const ScanProgress& progress = {}, uint64_t records = UINT64_MAX);

}  // namespace fuelrail::ffrecord
