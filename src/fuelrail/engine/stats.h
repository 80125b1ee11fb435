// Statistics of the engine's stages since it started, and which stage is the bottleneck.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "fuelrail/engine/worker_counts.h"

namespace fuelrail {

struct StageStats {
  double busy_seconds = 0;     // summed over the stage's threads
  double waiting_seconds = 0;  // summed likewise; waiting for input, room or the user
  uint64_t items = 0;          // records, or batches for `consumer`
  uint64_t bytes = 0;          // read from storage or written into batches
  // Mean number of items that were waiting each time the stage took items: reads in flight for
  // `fetch`, records read for `process`, finished batches for `consumer`.
  double mean_queue_depth = 0;
};

// Busy means: `fetch` plans or waits for storage (it counts as waiting when it has no room to read
// into); `process` decodes and transforms; `consumer`: the user works on a batch (it counts as
// waiting inside `next`).
struct Stats {
  double seconds = 0;     // since the engine started
  StageStats fetch;       // reads records
  StageStats process;     // decodes and transforms
  StageStats consumer;    // the user's loop, which takes batches
  WorkerCounts counts{};  // of all workers
  size_t slots_lent = 0;  // batches that the user holds
  // The read backend used so far, for the records that workers do not read from the page cache
  // themselves: "io_uring", "pread" (threads), "io_uring and pread" or "inline"; empty before the
  // first `next` and after `stop`.
  std::string read_backend;
  // Current number of simultaneous reads by threads; io_uring has its own limit.
  size_t reads_at_once = 0;
  // The bottleneck: "fetch", "process" or "consumer", the stage that is busy for the largest share
  // of its time. Empty before the first batch.
  std::string limit;
};

// The share of its time that a stage is busy, from 0 to 1; 0 for a stage that has done nothing.
double busy_share(const StageStats& stage);

// A human-readable table: an aligned line per stage (busy, waiting, items, MB, queue), and a line
// of totals. ASCII; every line but the last ends in '\n'.
std::string to_table(const Stats& stats);

// The value of Stats::limit for these stages.
std::string limiting_stage(const StageStats& fetch, const StageStats& process,
                           const StageStats& consumer);

}  // namespace fuelrail
