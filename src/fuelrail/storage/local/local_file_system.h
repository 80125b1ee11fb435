// The local file system: plain paths and file:// URIs, through POSIX.
#pragma once

#include "fuelrail/storage/file_system.h"

namespace fuelrail {

// Lifetime: the process.
FileSystem& local_file_system();

}  // namespace fuelrail
