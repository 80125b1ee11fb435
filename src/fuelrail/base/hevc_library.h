// Opens fuelrail's plugin for H.265 (plugins/hevc/), which is not part of the package because of
// its licence.
#pragma once

#include <string>

#include "fuelrail/base/error.h"
#include "fuelrail/base/hevc_table.h"

namespace fuelrail {

// Returns the plugin's functions. Opens the plugin at the first call: the file that the environment
// variable FUELRAIL_HEVC names; else `libfuelrail_hevc.so` in the folder `fuelrail_hevc` beside
// that of the Python package, where its wheel installs it; else that of the system's library
// folders. The plugin stays open. Errors: MissingCodecError if there is no plugin, or one with
// another interface version; a later call tries again.
const fuelrail_hevc_table& hevc_library();

// For `fuelrail doctor`: "libde265 1.0.11, x265 3.5", or the reason why it cannot be used.
std::string describe_hevc_library();

}  // namespace fuelrail
