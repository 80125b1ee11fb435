// Opens inputs that the user names.
#pragma once

#include <memory>
#include <string>

#include "fuelrail/container/open.h"
#include "fuelrail/container/record_stream.h"

namespace fuelrail::pack {

// Like open_container, but an existing folder (packed or not) without one sub-folder per class
// is a CorruptError instead of an invalid argument or a missing folder. Errors: CorruptError as
// described, otherwise those of open_container.
std::shared_ptr<const Container> open_input(const std::string& uri, const OpenOptions& options);

// Opens a file whose records are copied. With a schema, the records are image records of the
// samples that the schema finds in the file; without one, the file's own records. `output`: the
// file to write; its format limits the length of a record. Errors: those of `convert` for the
// source.
std::unique_ptr<RecordStream> open_stream(const std::string& source, const std::string& output,
                                          const OpenOptions& options);

}  // namespace fuelrail::pack
