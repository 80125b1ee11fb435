// What the process keeps for further reads: defined in storage/read_memory.cc and
// storage/read_queue_pool.cc, and called by tests only.
#pragma once

#include <cstddef>

namespace fuelrail {

size_t idle_read_memory_bytes();
void free_idle_read_memory();

size_t idle_read_queues();
void free_idle_read_queues();

}  // namespace fuelrail
