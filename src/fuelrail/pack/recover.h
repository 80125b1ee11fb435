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
  // Number of records of the source that are not in the output. Empty for a RecordIO file without
  // its sidecar, whose original number of records is unknown.
  std::optional<uint64_t> lost_records{};
  bool checksums = false;  // the records' original checksums are known and were verified
};

// Copies every readable record of `source` into `output`, in order. The output's name determines
// its format: .rec and .ffr for either of them, .bzna for .bzna. The source is not changed. When a
// range of the source is found that no record of the output contains, `lost` is called with it, on
// the calling thread.
//
// A `.bzna` file whose tables cannot be read is searched for its records; its splits are then lost.
// Otherwise the splits are kept, without the lost records.
//
// RecordIO: the readable records are those that `verify --recover` counts; after damaged framing,
// reading continues at the next record. If the sidecar has checksums, records whose payloads do not
// match them are lost too. FFRecord: the readable records are those that the table lists and whose
// checksums match. The file may be truncated anywhere after the table, but the table must be
// intact.
//
// If the source's sidecar belongs to it (sidecar_store.h), class names and the other sections that
// cannot be rebuilt are kept. The keys in the source's index or sidecar are kept too. A record that
// neither lists gets as its key its image's id. If it has no id, the key is its number in the
// source or, if there is no sidecar, its number in the output. If a truncated index already gives
// that key to another record, the record gets an unused key above all keys of the index. A damaged
// index, or one with keys that are not integers, is ignored with a warning.
//
// The output gets its name as a packed file does (part.h). Memory: that of the longest record, and
// 52 bytes for each record; with a truncated index, 48 more bytes for each record.
//
// Errors: InvalidArgumentError for a name without a record file's extension, for an output of
// another format than above, and for an output that is the source. Errors of opening the source.
// CorruptError if no record can be read, and for a damaged table. UnsupportedError for a record
// that is too long for the output's format. IoError as in `pack`. StateError "the work was
// interrupted" if the caller stops the job. A job that fails leaves no output.
Recovery recover(const std::string& source, const std::string& output,
                 const JobOptions& options = {}, const ReportDamage& lost = {});

}  // namespace fuelrail::pack
