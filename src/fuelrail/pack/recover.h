// What can be read of a damaged or cut record file becomes a file of its own.
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
  // How many records of the source are not in the output. Empty where nothing says how many it had:
  // a RecordIO file without its sidecar.
  std::optional<uint64_t> lost_records{};
  bool checksums = false;  // those that the records had before the damage were known, and verified
};

// Copies every record of `source` that can be read into `output`, in order; the output's name says
// its format, which may be another. The source is not changed. `lost` is called, on the calling
// thread, with each part of the source that is in no record of the output, as it is found.
//
// Of a RecordIO file the records are those that `verify --recover` counts: damage of the framing is
// passed over to the next record. Where its sidecar has checksums, records whose payloads have
// others are lost too. Of an FFRecord file they are those that its table names and that have their
// checksums; the file may be cut anywhere behind its table, but the table must be whole.
//
// Class names, and what else of the source's sidecar cannot be rebuilt, are kept, where the sidecar
// belongs to the source (sidecar_store.h). So are the keys: of the source's index or sidecar; a
// record that neither has gets its image's id, else its number in the source, or, without a
// sidecar, in the output. Where another record has that key by an index that was cut, it gets one
// above all keys of the index. An index that is damaged, or has keys that are no whole numbers, is
// not kept: a warning.
//
// The output gets its name as a packed file does (part.h). Memory: the longest record, and 52 bytes
// a record; with an index that was cut 48 more.
//
// Errors: InvalidArgumentError for names that are none of a record file, and for an output that is
// the source; those of opening the source; CorruptError where no record can be read, and for a
// damaged table; UnsupportedError for a record too long for the output's format; IoError as pack;
// StateError "interrupted" when told to stop. After any of them there is no output.
Recovery recover(const std::string& source, const std::string& output,
                 const JobOptions& options = {}, const ReportDamage& lost = {});

}  // namespace fuelrail::pack
