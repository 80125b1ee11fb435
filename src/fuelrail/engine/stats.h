// What the engine's stages did since it started, and which of them limits.
#pragma once

#include <cstdint>
#include <string>

namespace fuelrail {

struct StageStats {
  double busy_seconds = 0;     // summed over the stage's threads
  double waiting_seconds = 0;  // likewise: for input, for room, for the user
  uint64_t items = 0;          // records, or batches for `deliver`
  uint64_t bytes = 0;          // read from storage, or written into batches
  double mean_queue_depth =
      0;  // items that waited in front of the stage, sampled whenever it took one
};

struct Stats {
  double seconds = 0;      // since the engine started
  StageStats fetch;        // reads records
  StageStats process;      // decodes and transforms
  StageStats deliver;      // hands batches to the user
  uint64_t tolerated = 0;  // oddities in images that were passed over
  size_t slots_lent = 0;   // batches that the user holds
  std::string limit;       // "fetch", "process" or "consumer": the stage that the others wait for
};

}  // namespace fuelrail
