// Decides whether workers read their own records.
//
// If a record is in the page cache, its worker reads it best, just before it processes it: the
// bytes are then still in the worker's CPU cache. Any other record must be read ahead, so that its
// worker does not wait. Workers read their own records until one is not cached. Then records are
// read ahead, and some of them are probes: after enough cached probes in a row, workers read again.
// Each return to reading ahead doubles the number of probes that are needed.
#pragma once

#include <algorithm>
#include <cstddef>

namespace fuelrail {

// Threads: one at a time; the engine calls it under its lock.
class WorkerReads {
 public:
  bool on() const { return on_; }

  // A worker's record was not cached.
  void missed() {
    if (!on_) return;
    on_ = false;
    needed_ = std::min(2 * needed_, kMostNeeded);
    cached_ = 0;
  }

  // A record that is read ahead was a probe.
  void probed(bool cached) {
    cached_ = cached ? cached_ + 1 : 0;
    on_ = on_ || cached_ >= needed_;
  }

 private:
  static constexpr size_t kMostNeeded = 1024;

  bool on_ = true;
  size_t needed_ = 4;  // probes in a row
  size_t cached_ = 0;
};

}  // namespace fuelrail
