// What the engine's stages did since it started, and which of them limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace fuelrail {

struct StageStats {
  double busy_seconds = 0;     // summed over the stage's threads
  double waiting_seconds = 0;  // likewise: for input, for room, for the user
  uint64_t items = 0;          // records, or batches for `consumer`
  uint64_t bytes = 0;          // read from storage, or written into batches
  // Items that waited in front of the stage, sampled whenever it took some: reads in flight,
  // records read, batches finished.
  double mean_queue_depth = 0;
};

// Busy means: for `fetch`, that it plans or waits for storage (it waits when it has no room to read
// into); for `process`, that it decodes and transforms; for `consumer`, that the user works on a
// batch (it waits inside `next`).
struct Stats {
  double seconds = 0;      // since the engine started
  StageStats fetch;        // reads records
  StageStats process;      // decodes and transforms
  StageStats consumer;     // the user, who takes batches
  uint64_t tolerated = 0;  // oddities in images that were passed over
  size_t slots_lent = 0;   // batches that the user holds
  // Who has read so far: "io_uring", "pread" (threads), "io_uring and pread" or "inline"; empty
  // before the first batch was asked for and once stopped.
  std::string read_backend;
  // Reads at once by threads, as far as the depth has grown; io_uring has its own.
  size_t reads_at_once = 0;
  // "fetch", "process" or "consumer": the stage that is busy for the largest share of its time, the
  // one that the others wait for. Empty before the first batch.
  std::string limit;
};

// The part of its time that a stage is busy, from 0 to 1; 0 for one that has done nothing.
double busy_share(const StageStats& stage);

// For people: a line a stage (busy, waiting, items, MB, queue), aligned, and one on the whole.
// ASCII; lines end in '\n' but for the last.
std::string to_table(const Stats& stats);

// What Stats::limit says of these stages.
std::string limiting_stage(const StageStats& fetch, const StageStats& process,
                           const StageStats& consumer);

}  // namespace fuelrail
