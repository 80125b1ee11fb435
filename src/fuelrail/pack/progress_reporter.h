// Reports a long job's progress to its caller at a fixed interval.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "fuelrail/base/listener.h"
#include "fuelrail/pack/pack_result.h"

namespace fuelrail::pack {

// Threads: one at a time.
class ProgressReporter {
 public:
  static constexpr std::chrono::milliseconds kInterval{100};

  // Lifetime: `callback`, which may be empty, outlives the reporter.
  ProgressReporter(const std::function<bool(const PackProgress&)>& callback, uint64_t total)
      : callback_(callback) {
    now_.total = total;
  }

  void advance(uint64_t done, uint64_t bytes) {
    now_.done = done;
    now_.bytes = bytes;
  }

  // Errors of both: StateError if the callback returns false.
  void report_when_due() {
    if (Clock::now() - last_ >= kInterval) report();
  }
  void report() {
    last_ = Clock::now();
    now_.seconds = std::chrono::duration<double>(last_ - start_).count();
    if (callback_ && !callback_(now_)) throw_interrupted();
  }

 private:
  using Clock = std::chrono::steady_clock;

  const std::function<bool(const PackProgress&)>& callback_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
  PackProgress now_;
};

}  // namespace fuelrail::pack
