// How many processors and how much memory this process may use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace fuelrail {

// Default number of threads: the number of processors in the CPU affinity mask, or the cgroup (v1
// or v2) CPU quota rounded up if that is smaller. Divided by the environment variable
// LOCAL_WORLD_SIZE if it is set; at least 1.
int default_threads();

// The processor's name and its widest vector instruction set, for benchmark reports: "AMD EPYC,
// avx512".
std::string describe_cpu();

// Memory limit of this process in bytes: the smallest limit of its cgroup (v1 or v2) and the
// cgroup's ancestors. `root` is the folder that contains proc/self and the cgroup file systems.
// Returns: empty if no limit is set or none can be read.
std::optional<uint64_t> cgroup_memory_bytes(const std::string& root = "/");

// The parts of default_threads.

// Number of processors in this process's affinity mask.
int cpus_in_affinity_mask();

// `local_world_size`: the environment variable's text, or null. Anything but a positive number
// counts as 1.
int threads_for(int cpus, std::optional<double> quota_cpus, const char* local_world_size);

// CPU quota of this process in processors: the smallest quota of its cgroup and the cgroup's
// ancestors. `root` and Returns: as for cgroup_memory_bytes.
std::optional<double> cgroup_quota_cpus(const std::string& root = "/");

}  // namespace fuelrail
