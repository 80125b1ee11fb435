// Merges parts of a dataset into one file.
#pragma once

#include <string>
#include <vector>

#include "fuelrail/pack/pack_result.h"

namespace fuelrail::pack {

// Copies the records of `sources`, one file after the other, into `output`. All files have the same
// format. Verifies the checksums that the sources have. Keys are kept: those of the source's index
// (RecordIO) or sidecar (FFRecord), otherwise the ids in the records, otherwise the records'
// numbers in the source. The parts of one job (PackOptions::nsplit) therefore give, byte for byte
// and with index and sidecar, the files that the job makes without parts.
//
// Two sources must not share a key; a key that repeats inside one source causes a warning.
// Exception: if all keys of a source are only its records' numbers 0, 1, 2, ..., and an earlier
// source has one of these keys, then each record of this source that has no key of its own is
// renumbered: its key is its number in the output.
//
// The output gets its name as a packed file does (part.h). Memory: the longest record, and at most
// 52 bytes for each record.
//
// Errors: InvalidArgumentError for an empty list of sources, for a source that is listed twice, for
// names of different formats, for an output that is also a source, and for sources that share a key
// or have different class names. UnsupportedError for a source whose sidecar has other sections
// that cannot be rebuilt. Errors of reading and writing as in `convert`. After any error there is
// no output.
PackResult::File merge(const std::vector<std::string>& sources, const std::string& output,
                       const JobOptions& options = {});

}  // namespace fuelrail::pack
