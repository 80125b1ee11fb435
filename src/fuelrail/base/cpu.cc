#include "fuelrail/base/cpu.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "fuelrail/base/parse_number.h"

namespace fuelrail {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

bool lists(const std::string& comma_separated, const std::string& name) {
  return ("," + comma_separated + ",").find("," + name + ",") != std::string::npos;
}

// The CPU quota set in one cgroup's own folder.
std::optional<double> quota_of(const fs::path& group) {
  double quota_us = 0;
  double period_us = 0;
  if (std::ifstream v2(group / "cpu.max"); v2) {
    v2 >> quota_us >> period_us;  // "max 100000" fails to parse: no quota
    if (!v2) return std::nullopt;
  } else {
    std::ifstream(group / "cpu.cfs_quota_us") >> quota_us;  // -1: no quota
    std::ifstream(group / "cpu.cfs_period_us") >> period_us;
  }
  if (quota_us <= 0 || period_us <= 0) return std::nullopt;
  return quota_us / period_us;
}

// The memory limit set in one cgroup's own folder.
std::optional<uint64_t> memory_limit_of(const fs::path& group) {
  constexpr uint64_t kNoneInV1 = uint64_t{1} << 60;  // "no limit" is 2^63 minus a page
  uint64_t bytes = 0;
  std::ifstream v2(group / "memory.max");
  if (v2 ? !(v2 >> bytes) : !(std::ifstream(group / "memory.limit_in_bytes") >> bytes)) {
    return std::nullopt;  // "max" fails to parse
  }
  if (bytes >= kNoneInV1) return std::nullopt;
  return bytes;
}

// A mount point of a cgroup hierarchy, and the group that is mounted there.
struct CgroupMount {
  bool v2 = false;
  fs::path top;
  fs::path mount_point;
};

// The mounts where `controller` ("cpu", "memory") may be limited.
std::vector<CgroupMount> cgroup_mounts(const fs::path& root, const std::string& controller) {
  std::vector<CgroupMount> mounts;
  std::ifstream in(root / "proc/self/mountinfo");
  for (std::string line; std::getline(in, line);) {
    // id parent major:minor top mount-point options [optional...] - type source super-options
    const std::vector<std::string> words = words_of(line);
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 6 || words.end() - dash < 4) continue;
    const bool v2 = dash[1] == "cgroup2";
    const bool v1 = dash[1] == "cgroup" && lists(dash[3], controller);
    if (!v1 && !v2) continue;
    mounts.push_back({v2, words[3], root / fs::path(words[4]).relative_path()});
  }
  return mounts;
}

// This process's group in the hierarchy, as /proc/self/cgroup names it: "0::/a" or "4:cpu:/a".
fs::path own_group(const fs::path& root, const std::string& controller, bool v2) {
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (v2 ? controllers.empty() : lists(controllers, controller)) return line.substr(second + 1);
  }
  return "/";
}

// The smallest limit that `limit_of` finds in this process's group and its ancestors.
template <typename Limit>
std::optional<Limit> narrowest(const fs::path& root, const std::string& controller,
                               std::optional<Limit> (*limit_of)(const fs::path&)) {
  std::optional<Limit> least;
  const auto narrow_to = [&least](std::optional<Limit> limit) {
    if (limit && (!least || *limit < *least)) least = limit;
  };
  for (const CgroupMount& mount : cgroup_mounts(root, controller)) {
    // In a container the mount may start below the group's full path, or not contain the path at
    // all.
    fs::path below = own_group(root, controller, mount.v2).lexically_relative(mount.top);
    if (below.empty() || *below.begin() == "..") below = ".";
    for (; !below.empty() && below != "."; below = below.parent_path()) {
      narrow_to(limit_of(mount.mount_point / below));
    }
    narrow_to(limit_of(mount.mount_point));
  }
  return least;
}

}  // namespace

std::optional<double> cgroup_quota_cpus(const std::string& root) {
  return narrowest(root, "cpu", quota_of);
}

std::optional<uint64_t> cgroup_memory_bytes(const std::string& root) {
  return narrowest(root, "memory", memory_limit_of);
}

int cpus_in_affinity_mask() {
  // The kernel refuses a mask smaller than its own with EINVAL, so larger ones are tried.
  for (int cpus = 1024; cpus <= 1 << 20; cpus *= 2) {
    std::vector<cpu_set_t> mask(CPU_ALLOC_SIZE(cpus) / sizeof(cpu_set_t));
    const size_t mask_bytes = mask.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(0, mask_bytes, mask.data()) == 0) {
      return CPU_COUNT_S(mask_bytes, mask.data());
    }
    if (errno != EINVAL) break;
  }
  return static_cast<int>(std::thread::hardware_concurrency());
}

int threads_for(int cpus, std::optional<double> quota_cpus, const char* local_world_size) {
  if (quota_cpus) cpus = static_cast<int>(std::min<double>(cpus, std::ceil(*quota_cpus)));
  const std::string_view given = local_world_size == nullptr ? "" : local_world_size;
  return std::max(1, cpus / std::max(1, parse_number<int>(given).value_or(1)));
}

int default_threads() {
  return threads_for(cpus_in_affinity_mask(), cgroup_quota_cpus(), std::getenv("LOCAL_WORLD_SIZE"));
}

std::string describe_cpu() {
  std::string name = "unknown processor";
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const size_t colon = line.find(": ");
    if (!line.starts_with("model name") || colon == std::string::npos) continue;
    name = line.substr(colon + 2);
    break;
  }
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")) {
    return name + ", avx512";
  }
  if (__builtin_cpu_supports("avx2")) return name + ", avx2";
  if (__builtin_cpu_supports("sse4.2")) return name + ", sse4.2";
  return name + ", sse2";
#elif defined(__aarch64__)
  return name + ", neon";
#else
  return name;
#endif
}

}  // namespace fuelrail
