// Files in this process's memory: memory://directory/name. For tests and small generated datasets.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fuelrail/storage/file_system.h"

namespace fuelrail {

// One tree per process; its root, memory://, always exists. An open source keeps its bytes if its
// file is replaced or removed. Lifetime: the process.
FileSystem& memory_file_system();

// A source that belongs to no file system. `uri`: its name in errors.
std::shared_ptr<const Source> memory_source(std::string uri, std::vector<std::byte> bytes);

}  // namespace fuelrail
