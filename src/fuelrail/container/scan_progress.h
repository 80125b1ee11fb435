// How far the scan of a file is, reported now and then to the caller, which may stop it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "fuelrail/container/open.h"
#include "fuelrail/storage/source.h"

namespace fuelrail {

// Told the bytes of the file that are done: at the begin, after 1024 records, after 50 ms without
// that, and at the end. Returns false to stop with a StateError.
using ScanProgress = std::function<bool(uint64_t done_bytes, uint64_t total_bytes)>;

// Asks `options.keep_going`. Lifetime: the options'.
ScanProgress progress_of(const OpenOptions& options);

// Threads: one at a time. Errors, of all: StateError when told to stop.
class ScanReporter {
 public:
  // Tells the begin. `progress` may be empty. Lifetime: both outlive it.
  ScanReporter(const Source& source, const ScanProgress& progress);

  // So many records, and bytes of the file, are done. Cheap enough for every record.
  void advance(uint64_t records, uint64_t bytes);
  // All of the file is.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  bool interval_is_over(uint64_t bytes);
  void tell(uint64_t bytes);

  const Source& source_;
  const ScanProgress& progress_;
  uint64_t told_records_ = 0;
  uint64_t clock_bytes_ = 0;  // done when the clock was looked at
  Clock::time_point told_;
};

}  // namespace fuelrail
