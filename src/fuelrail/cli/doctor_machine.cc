#include "fuelrail/cli/doctor_machine.h"

#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <hwy/highway.h>
#include <hwy/targets.h>
#include <linux/io_uring.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>

#include "fuelrail/base/cpu.h"
#include "fuelrail/base/error.h"

namespace fuelrail::cli {
namespace {

// The value after the colon in the first line that begins with `name`, or empty.
std::string entry_of(const char* path, std::string_view name) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    const size_t colon = line.find(':');
    if (!line.starts_with(name) || colon == std::string::npos) continue;
    return line.substr(std::min(line.find_first_not_of(" \t", colon + 1), line.size()));
  }
  return "";
}

bool is_vector_flag(const std::string& flag) {
  constexpr std::array kPrefixes{"sse", "ssse", "avx", "fma", "f16c", "asimd", "sve"};
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&flag](const char* prefix) { return flag.starts_with(prefix); });
}

std::vector<std::string> vector_flags() {
  std::string line = entry_of("/proc/cpuinfo", "flags");
  if (line.empty()) line = entry_of("/proc/cpuinfo", "Features");  // AArch64
  std::istringstream words(line);
  std::vector<std::string> flags;
  for (std::string word; words >> word;) {
    if (is_vector_flag(word)) flags.push_back(word);
  }
  return flags;
}

// The instruction sets of this processor for which Highway compiled code.
std::vector<std::string> simd_targets() {
  std::vector<std::string> targets;
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    targets.emplace_back(hwy::TargetName(target));
  }
  return targets;
}

struct KnownFileSystem {
  uint32_t number;  // f_type of statfs(2)
  const char* type;
  bool remote;
};
constexpr std::array kKnownFileSystems{
    KnownFileSystem{0xef53, "ext4", false},         KnownFileSystem{0x58465342, "xfs", false},
    KnownFileSystem{0x9123683e, "btrfs", false},    KnownFileSystem{0x2fc12fc1, "zfs", false},
    KnownFileSystem{0x01021994, "tmpfs", false},    KnownFileSystem{0x794c7630, "overlay", false},
    KnownFileSystem{0xf2f52010, "f2fs", false},     KnownFileSystem{0x858458f6, "ramfs", false},
    KnownFileSystem{0x73717368, "squashfs", false}, KnownFileSystem{0x9fa0, "proc", false},
    KnownFileSystem{0x65735546, "fuse", true},      KnownFileSystem{0x6969, "nfs", true},
    KnownFileSystem{0xff534d42, "cifs", true},      KnownFileSystem{0xfe534d42, "smb2", true},
    KnownFileSystem{0x01021997, "9p", true},        KnownFileSystem{0x0bd00bd0, "lustre", true},
    KnownFileSystem{0x47504653, "gpfs", true},      KnownFileSystem{0x00c36400, "ceph", true},
    KnownFileSystem{0x19830326, "beegfs", true},
};

std::optional<uint64_t> soft_limit(__rlimit_resource resource) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

}  // namespace

Kernel kernel() {
  utsname name{};
  ::uname(&name);
  return {.name = fmt::format("{} {}", name.sysname, name.release),
          .architecture = name.machine,
          .libc = fmt::format("glibc {}", gnu_get_libc_version())};
}

Processor processor() {
  return {.name = describe_cpu(), .flags = vector_flags(), .targets = simd_targets()};
}

MountedFileSystem file_system_at(const std::string& path) {
  struct statfs found {};
  if (::statfs(path.c_str(), &found) != 0) {
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR) {
      throw NotFoundError("the file or folder does not exist", {.path = path});
    }
    throw IoError("cannot query the file system", {.path = path, .found = std::strerror(error)});
  }
  const auto number = static_cast<uint32_t>(found.f_type);
  const auto* known =
      std::find_if(kKnownFileSystems.begin(), kKnownFileSystems.end(),
                   [number](const KnownFileSystem& one) { return one.number == number; });
  const bool is_known = known != kKnownFileSystems.end();
  const auto block_bytes = static_cast<uint64_t>(found.f_bsize);
  return {.type = is_known ? known->type : fmt::format("{:#x}", number),
          .remote = is_known && known->remote,
          .total_bytes = found.f_blocks * block_bytes,
          .free_bytes = found.f_bavail * block_bytes};
}

Limits limits() {
  return {.open_files = soft_limit(RLIMIT_NOFILE), .locked_bytes = soft_limit(RLIMIT_MEMLOCK)};
}

std::optional<uint64_t> memory_bytes(const std::string& entry) {
  uint64_t kibibytes = 0;
  if (!(std::istringstream(entry_of("/proc/meminfo", entry)) >> kibibytes)) return std::nullopt;
  return kibibytes * 1024;
}

}  // namespace fuelrail::cli
