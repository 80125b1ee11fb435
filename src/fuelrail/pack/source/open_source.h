// Opens the sources of packing, converting and merging.
#pragma once

#include <memory>
#include <string>

#include "fuelrail/container/open.h"
#include "fuelrail/container/record_stream.h"

namespace fuelrail::pack {

// Like open_container, but an existing folder (packed or not) that does not have one sub-folder per
// class is a CorruptError instead of an InvalidArgumentError or a NotFoundError. Other errors:
// those of open_container.
std::shared_ptr<const Container> open_input(const std::string& uri, const OpenOptions& options);

// Opens a file whose records are to be copied: the file's own records or, with a schema, image
// records of the samples that the schema finds in the file. `output`: the file to write, whose
// format limits the length of a record. Errors: those of `convert` for the source.
std::unique_ptr<RecordStream> open_stream(const std::string& source, const std::string& output,
                                          const OpenOptions& options);

}  // namespace fuelrail::pack
