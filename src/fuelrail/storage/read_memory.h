// Memory for records that are given away: each has its own, and what its last owner lets go is used
// again. Fresh memory costs a page fault every 4 KiB, which for records of 100 KB is more than
// their read from the page cache (docs/benchmarks.md).
//
// Threads: any. Fork: a child has a copy of what was idle.
#pragma once

#include <cstddef>
#include <memory>

namespace fuelrail {

// Less than this is malloc's business, which has no page faults for it.
inline constexpr size_t kLeastReusedBytes = size_t{32} << 10;
// Of the process, idle: the sizes that have not been asked for longest go first.
inline constexpr size_t kMostIdleBytes = size_t{64} << 20;

// At least `bytes`, not zeroed; `aligned` = at a multiple of kDirectAlignment, as all that is used
// again lies in any case. Errors: std::bad_alloc.
std::shared_ptr<std::byte> read_memory(size_t bytes, bool aligned = false);

}  // namespace fuelrail
