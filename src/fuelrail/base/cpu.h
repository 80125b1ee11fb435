// What this process may use of the machine.
#pragma once

#include <string>

namespace fuelrail {

// Threads to start when the user names no number: the smaller of the CPU affinity mask and the
// cgroup (v1 or v2) CPU quota rounded up, divided by LOCAL_WORLD_SIZE when the environment has it;
// at least 1.
int default_threads();

// The processor's name, and the widest of its vector instruction sets, for benchmark reports: "AMD
// EPYC, avx512".
std::string describe_cpu();

}  // namespace fuelrail
