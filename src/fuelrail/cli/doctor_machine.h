// The resources that this process can use: the facts that `fuelrail doctor` reports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fuelrail::cli {

struct Kernel {
  std::string name;          // "Linux 6.1.0-18-amd64"
  std::string architecture;  // "x86_64"
  std::string libc;          // "glibc 2.36"
};
Kernel kernel();

struct Processor {
  std::string name;
  std::vector<std::string> flags;    // vector instruction sets, as the kernel names them
  std::vector<std::string> targets;  // versions of our SIMD code that it can run, best first
};
Processor processor();

struct MountedFileSystem {
  std::string type;  // "ext4", "nfs"; an unknown type as a hexadecimal number
  bool remote = false;
  uint64_t total_bytes = 0;
  uint64_t free_bytes = 0;  // available to this user
};
// The file system that holds `path`. Errors: NotFoundError, IoError.
MountedFileSystem file_system_at(const std::string& path);

struct Limits {
  std::optional<uint64_t> open_files;    // empty: no limit
  std::optional<uint64_t> locked_bytes;  // empty: no limit
};
Limits limits();

// The machine's memory in bytes. `entry`: MemTotal or MemAvailable. Returns: empty if the kernel
// does not report it.
std::optional<uint64_t> memory_bytes(const std::string& entry);

}  // namespace fuelrail::cli
