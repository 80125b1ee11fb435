// Opening what the command line names, with warnings said.
#pragma once

#include <memory>
#include <string>

#include "fuelrail/cli/console.h"
#include "fuelrail/container/container.h"
#include "fuelrail/container/recordio/recordio_container.h"

namespace fuelrail::cli {

// Says, too, when a sidecar was made, so that no command leaves a file behind in silence. Errors:
// those of open_input.
std::shared_ptr<const Container> open_warning(const std::string& uri, Console& console);

// The same container as RecordIO, or null.
const recordio::RecordIoContainer* as_recordio(const Container& container);

// "RecordIO" or "folder".
const char* format_of(const Container& container);

}  // namespace fuelrail::cli
