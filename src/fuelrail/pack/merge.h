// Merges record files, such as the parts of one packing job, into one file.
#pragma once

#include <string>
#include <vector>

#include "fuelrail/pack/pack_result.h"

namespace fuelrail::pack {

// Copies the records of `sources`, one file after the other, into `output`. All files have the same
// format. Verifies the checksums that the sources have. A record keeps its key: the key in the
// source's index (RecordIO) or sidecar (FFRecord), or else the id in the record, or else the
// record's number in the source. Merging the parts of one job (PackOptions::nsplit) therefore
// gives, byte for byte, the output, index and sidecar that the job makes without parts. A split of
// the output has the records that the splits of this name have in the sources. Names that only the
// sidecars have are kept; the records of a source without names get empty ones.
//
// Two sources must not share a key, with one exception: if the keys of a source are only its record
// numbers 0, 1, 2, ..., and an earlier source already uses one of them, the source's records
// without an id are renumbered, so that their keys are their numbers in the output. A key that
// repeats inside one source causes a warning.
//
// The output gets its name as a packed file does (part.h). Memory: that of the longest record; at
// most 52 bytes for each record (172 and its name in a `.bzna` file), and 8 for each record of a
// split; the names that only the sidecars have.
//
// Errors: InvalidArgumentError for an empty list of sources, for a source that is listed twice, for
// names of different formats, for an output that is also a source, and for sources that share a key
// or have different class names, or of which one has sample records and another other records or
// other fields. UnsupportedError for a source whose sidecar has a section, other
// than class names, names and keys, that cannot be rebuilt. Errors of reading and writing as in
// `convert`. A job that fails leaves no output.
PackResult::File merge(const std::vector<std::string>& sources, const std::string& output,
                       const JobOptions& options = {});

}  // namespace fuelrail::pack
