// What this process may use of the machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace fuelrail {

// Threads to start when the user names no number: the smaller of the CPU affinity mask and the
// cgroup (v1 or v2) CPU quota rounded up, divided by LOCAL_WORLD_SIZE when the environment has it;
// at least 1.
int default_threads();

// The processor's name, and the widest of its vector instruction sets, for benchmark reports: "AMD
// EPYC, avx512".
std::string describe_cpu();

// Memory that this process's cgroup (v1 or v2), or the narrowest above it, allows, in bytes. `root`
// is the folder that holds proc/self and the cgroup file systems. Returns: empty when there is no
// limit, or none that can be read.
std::optional<uint64_t> cgroup_memory_bytes(const std::string& root = "/");

// The parts of default_threads.

// Processors that this process may run on.
int cpus_in_affinity_mask();

// `local_world_size` is the environment's text, or null; what is not a positive number counts as 1.
int threads_for(int cpus, std::optional<double> quota_cpus, const char* local_world_size);

// Processors' worth of time that this process's cgroup, or the narrowest above it, allows. `root`
// and what is returned: as for cgroup_memory_bytes.
std::optional<double> cgroup_quota_cpus(const std::string& root = "/");

}  // namespace fuelrail
