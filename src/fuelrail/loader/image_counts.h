// The counts of workers that decode images (engine/worker.h): by which way images were decoded, and
// how often hints were refused.
#pragma once

#include <string_view>

#include "fuelrail/decode/decoder.h"
#include "fuelrail/engine/worker.h"

namespace fuelrail {

inline constexpr size_t kHintsRefused = kDecodeWays;
static_assert(kHintsRefused < kWorkerCounts);

// The names of DecodeWay in Python.
inline constexpr std::array<std::string_view, kDecodeWays> kDecodeWayNames{
    "other", "indexed", "restart_markers", "guessed", "libjpeg", "suspect"};

inline void count_image(const DecodeJob& job, Task& task) {
  task.tolerated += job.tolerated;
  if (job.hints_refused) ++task.counts[kHintsRefused];
  if (!job.error) ++task.counts[static_cast<size_t>(job.way)];
}

}  // namespace fuelrail
