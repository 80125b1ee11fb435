// Memory for records that callers own: each record has its own block, and a block is reused after
// its last owner releases it. Fresh memory costs a page fault every 4 KiB, which for records of 100
// KB takes longer than reading them from the page cache (docs/benchmarks.md).
//
// Threads: any. Fork: a child has its own copy of the idle memory.
#pragma once

#include <cstddef>
#include <memory>

namespace fuelrail {

// Smaller blocks come from malloc, which reuses them without page faults.
inline constexpr size_t kLeastReusedBytes = size_t{32} << 10;
// Limit of the process's idle memory. Blocks of the least recently requested sizes are freed first.
inline constexpr size_t kMostIdleBytes = size_t{64} << 20;

// Returns a block of at least `bytes`, not zeroed. `aligned`: its address is a multiple of
// kDirectAlignment (that of a reused block always is). Errors: std::bad_alloc.
std::shared_ptr<std::byte> read_memory(size_t bytes, bool aligned = false);

}  // namespace fuelrail
