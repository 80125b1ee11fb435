// Measures how long a stage's threads are busy and how long they wait. The clock is read only when
// a thread starts or stops waiting, not for each record.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "fuelrail/engine/stats.h"

namespace fuelrail {

// Threads: one at a time; the engine calls it under its lock.
class StageClock {
 public:
  // A thread joins the stage and is busy, or leaves the stage.
  void enter() { change(+1, 0); }
  void leave() { change(-1, 0); }

  // A busy thread starts or stops waiting.
  void begin_waiting() { change(-1, +1); }
  void end_waiting() { change(+1, -1); }

  // The stage took `items` items; at that moment, `queued` items were waiting for it.
  void took(size_t items, size_t queued) {
    items_ += items;
    queued_ += queued;
    ++takes_;
  }
  void moved(size_t bytes) { bytes_ += bytes; }

  // The statistics until now, including periods in progress.
  StageStats stats() {
    change(0, 0);
    return {.busy_seconds = busy_seconds_,
            .waiting_seconds = waiting_seconds_,
            .items = items_,
            .bytes = bytes_,
            .mean_queue_depth =
                takes_ == 0 ? 0 : static_cast<double>(queued_) / static_cast<double>(takes_)};
  }

 private:
  using Clock = std::chrono::steady_clock;

  void change(int busy, int waiting) {
    const Clock::time_point now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - since_).count();
    busy_seconds_ += seconds * busy_;
    waiting_seconds_ += seconds * waiting_;
    since_ = now;
    busy_ += busy;
    waiting_ += waiting;
  }

  Clock::time_point since_ = Clock::now();
  int busy_ = 0;  // number of threads that are busy now
  int waiting_ = 0;
  double busy_seconds_ = 0;
  double waiting_seconds_ = 0;
  uint64_t items_ = 0;
  uint64_t bytes_ = 0;
  uint64_t queued_ = 0;
  uint64_t takes_ = 0;
};

}  // namespace fuelrail
