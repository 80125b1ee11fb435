// Makes the record table of a RecordIO file, and what goes with it into a sidecar: by hopping from
// head to head, or by reading everything.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "fuelrail/container/recordio/record_reader.h"
#include "fuelrail/container/sidecar.h"
#include "fuelrail/storage/source.h"

namespace fuelrail::recordio {

// Told the bytes that are done; returns false to stop with a StateError.
using TableProgress = std::function<bool(uint64_t done_bytes, uint64_t total_bytes)>;

// From the heads, image headers and labels alone: no checksums. Errors: TruncatedError for an empty
// file; CorruptError and TruncatedError with path, record and offset; the source's.
SidecarWriter scan_heads(const Source& source, const TableProgress& progress = {});

// From the whole file, with the checksum of every payload. With `recover`, damage is reported to it
// and passed over. Errors: as scan_heads.
SidecarWriter read_table(std::shared_ptr<const Source> source, const TableProgress& progress = {},
                         const std::function<void(const Damage&)>& recover = {});

}  // namespace fuelrail::recordio
