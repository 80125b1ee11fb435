// Files in this process's memory: memory://directory/name. For tests and small generated sets.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fuelrail/storage/file_system.h"

namespace fuelrail {

// One tree a process; its root, memory://, is always there. An open source keeps its bytes when its
// file is replaced or removed. Lifetime: the process.
FileSystem& memory_file_system();

// A source of its own, in no file system; `uri` is what errors call it.
std::shared_ptr<const Source> memory_source(std::string uri, std::vector<std::byte> bytes);

}  // namespace fuelrail
