// Reports the progress of a file scan to the caller, which may stop the scan.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "fuelrail/container/open.h"
#include "fuelrail/storage/source.h"

namespace fuelrail {

// Called with the number of bytes done so far: at the start, after every 1024 records, after 50 ms
// without a call, and at the end. Return false to stop the scan with a StateError
// "the work was interrupted".
using ScanProgress = std::function<bool(uint64_t done_bytes, uint64_t total_bytes)>;

// A ScanProgress that calls `options.keep_going`. Lifetime: `options` outlives it.
ScanProgress progress_of(const OpenOptions& options);

// Calls a ScanProgress while a file is scanned. Threads: one at a time. Errors of all methods:
// StateError when `progress` returns false.
class ScanReporter {
 public:
  // Reports the start. `progress` may be empty. Lifetime: `source` and `progress` outlive the
  // reporter.
  ScanReporter(const Source& source, const ScanProgress& progress);

  // Reports the progress if a report is due. `records` and `bytes` are the totals done so far.
  // Cheap enough to call for every record.
  void advance(uint64_t records, uint64_t bytes);
  // Reports that the whole file is done.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  bool interval_is_over(uint64_t bytes);
  void tell(uint64_t bytes);

  const Source& source_;
  const ScanProgress& progress_;
  uint64_t told_records_ = 0;
  uint64_t clock_bytes_ = 0;  // done when the clock was last read
  Clock::time_point told_;
};

}  // namespace fuelrail
