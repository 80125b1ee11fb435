// What the machine gives this process: the facts behind `fuelrail doctor`.
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
  std::vector<std::string> targets;  // of our kernels that it can run, the best first
};
Processor processor();

struct MountedFileSystem {
  std::string type;  // "ext4", "nfs4", or its number in hexadecimal
  bool remote = false;
  uint64_t total_bytes = 0;
  uint64_t free_bytes = 0;  // for this user
};
// Of the place that holds `path`. Errors: NotFoundError, IoError.
MountedFileSystem file_system_at(const std::string& path);

struct Limits {
  std::optional<uint64_t> open_files;    // empty: no limit
  std::optional<uint64_t> locked_bytes;  // empty: no limit
};
Limits limits();

// MemTotal or MemAvailable of the machine, in bytes. Returns: empty when the kernel does not say.
std::optional<uint64_t> memory_bytes(const std::string& entry);

}  // namespace fuelrail::cli
