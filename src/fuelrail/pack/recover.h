// Copies the readable records of a damaged or truncated record file to a new file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fuelrail/container/damage.h"
#include "fuelrail/pack/pack_result.h"

namespace fuelrail::pack {

struct Recovery {
  PackResult::File file{};
  uint64_t losses = 0;
  // Number of records of the source that are not in the output. Empty if the original number is
  // unknown: a RecordIO file without its sidecar.
  std::optional<uint64_t> lost_records{};
  bool checksums = false;  // the records' original checksums were known and verified
};

// Copies every readable record of `source` into `output`, in order. The output's name determines
// its format, which may differ from the source's. The source is not changed. `lost` is called on
// the calling thread for each range of the source that is in no record of the output, when it is
// found.
//
// RecordIO: the records are those that `verify --recover` counts; after damaged framing, reading
// continues at the next record. If the sidecar has checksums, records whose payloads do not match
// are lost too. FFRecord: the records are those that the table lists and whose checksums match. The
// file may be truncated anywhere after the table, but the table must be intact.
//
// If the sidecar belongs to the source (sidecar_store.h), class names and the other sections that
// cannot be rebuilt are kept. The keys of the source's index or sidecar are kept too. A record that
// neither of them lists gets its image's id as its key; without an id, its number in the source, or
// without a sidecar its number in the output. If the index was truncated and another record has
// that key in it, the record gets a key above all keys of the index. A damaged index, or one with
// keys that are not integers, is ignored with a warning.
//
// The output gets its name as a packed file does (part.h). Memory: the longest record, and 52 bytes
// for each record; with a truncated index 48 more.
//
// Errors: InvalidArgumentError for names that are not those of record files, and for an output that
// is the source. Errors of opening the source. CorruptError if no record can be read, and for a
// damaged table. UnsupportedError for a record that is too long for the output's format. IoError as
// in `pack`. StateError "interrupted" if the caller stops the job. After any error there is no
// output.
Recovery recover(const std::string& source, const std::string& output,
                 const JobOptions& options = {}, const ReportDamage& lost = {});

}  // namespace fuelrail::pack
