// Opening a file whose records are copied.
#pragma once

#include <memory>
#include <string>

#include "fuelrail/container/open.h"
#include "fuelrail/container/record_stream.h"

namespace fuelrail::pack {

// With a schema the records are the samples that it makes of the file, as image records; without
// one they are the file's own. `output`: where they go, whose format says how long they may be.
// Errors: those of `convert` for the source.
std::unique_ptr<RecordStream> open_stream(const std::string& source, const std::string& output,
                                          const OpenOptions& options);

}  // namespace fuelrail::pack
