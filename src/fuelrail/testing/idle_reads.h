// The memory and queues that the process keeps for later reads. Defined in storage/read_memory.cc
// and storage/read_queue_pool.cc; called only by tests.
#pragma once

#include <cstddef>

namespace fuelrail {

size_t idle_read_memory_bytes();
void free_idle_read_memory();

size_t idle_read_queues();
void free_idle_read_queues();

}  // namespace fuelrail
