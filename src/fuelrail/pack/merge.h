// Parts of a dataset become one file again.
#pragma once

#include <string>
#include <vector>

#include "fuelrail/pack/pack_result.h"

namespace fuelrail::pack {

// Copies the records of `sources`, one file after the other, into `output`; all are of one format.
// Checksums that the sources have are verified on the way. Keys stay: those of a source's index
// (RecordIO) or sidecar (FFRecord), else what the records say themselves, else their numbers in the
// source. So the parts of one job (PackOptions::nsplit) give, byte for byte and with index and
// sidecar, what the job without parts makes.
//
// A key must not be in two sources; one that a single source has more than once is warned of. But
// where the keys of a whole source are nothing but its records' numbers, 0, 1, 2 ..., and one
// before it has such a key, its records that say no key themselves are numbered on: each gets its
// number in the output.
//
// The output gets its name as a packed file does (part.h). Memory: the longest record, and at most
// 52 bytes a record.
//
// Errors: InvalidArgumentError for no source, for one that is given twice, for names of different
// formats, for an output that is one of the sources, and for sources that share a key or whose
// class names differ; UnsupportedError for a source whose
// sidecar has something else that cannot be rebuilt; as `convert` for all that is read and written.
// After any of them there is no output.
PackResult::File merge(const std::vector<std::string>& sources, const std::string& output,
                       const JobOptions& options = {});

}  // namespace fuelrail::pack
