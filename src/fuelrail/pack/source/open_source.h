// Opening what the user names as input.
#pragma once

#include <memory>
#include <string>

#include "fuelrail/container/open.h"
#include "fuelrail/container/record_stream.h"

namespace fuelrail::pack {

// open_container, where a folder that is there, packed or not, and is not laid out as one folder a
// class is wrong data, not a wrong argument or a missing folder. Errors: CorruptError for that,
// else those of open_container.
std::shared_ptr<const Container> open_input(const std::string& uri, const OpenOptions& options);

// A file whose records are copied. With a schema the records are the samples that it makes of the
// file, as image records; without one they are the file's own. `output`: where they go, whose
// format says how long they may be. Errors: those of `convert` for the source.
std::unique_ptr<RecordStream> open_stream(const std::string& source, const std::string& output,
                                          const OpenOptions& options);

}  // namespace fuelrail::pack
