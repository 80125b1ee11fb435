// Writes a `.bzna` file: the records, then their labels and names, then the tables.
#pragma once

#include <memory>

#include "fuelrail/container/record_file_writer.h"

namespace fuelrail::bzna {

// Creates a writer. Each payload is a whole record (nested_file.h); its key is ignored. The tracks
// `bzna_target` and `bzna_fname` are written if any record has a label or a name; a record without
// a label then gets -1, one without a name an empty name. The last track is a film of the
// thumbnails, or of the images of records that have no thumbnails, at 20 pictures per second; it is
// left out if the records have more than 1,000 different codecs. Before it, each split has the same
// tracks, of its records only. The sidecar gets the lengths, checksums and names of the records,
// and the table of stills.
//
// Memory: about 120 bytes per record, and the names. Errors of `append`: InvalidArgumentError for a
// payload that is not a record with an H.265 image; those of the sinks.
std::unique_ptr<RecordFileWriter> make_writer(const RecordFileSinks& sinks);

}  // namespace fuelrail::bzna
