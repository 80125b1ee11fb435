// Opening what the user names as input.
#pragma once

#include <memory>
#include <string>

#include "fuelrail/container/open.h"

namespace fuelrail::pack {

// open_container, where a folder that is there, packed or not, and is not laid out as one folder a
// class is wrong data, not a wrong argument or a missing folder. Errors: CorruptError for that,
// else those of open_container.
std::shared_ptr<const Container> open_input(const std::string& uri, const OpenOptions& options);

}  // namespace fuelrail::pack
