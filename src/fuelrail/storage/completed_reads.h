// What a read queue has to give: completions that nobody has taken yet.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <iterator>
#include <span>
#include <utility>

#include "fuelrail/storage/read_queue.h"
#include "fuelrail/storage/read_run.h"

namespace fuelrail {

// Threads: its user's lock.
class CompletedReads {
 public:
  // So many completions will come.
  void expect(size_t requests) { in_flight_ += requests; }
  // So many will not, after all.
  void forget(size_t requests) { in_flight_ -= requests; }

  void add(Completion completion) { done_.push_back(std::move(completion)); }
  void add(std::span<Completion> completions) {
    std::move(completions.begin(), completions.end(), std::back_inserter(done_));
  }
  template <typename Requests>
  void add_cancelled(const Requests& requests) {
    for (const ReadRequest& request : requests) done_.push_back(cancelled(request));
  }

  // As ReadQueue's.
  size_t in_flight() const { return in_flight_; }
  void interrupt() { interrupted_ = true; }

  // Whether a `wait` for `wanted` has what it waits for.
  bool serve(size_t wanted) const {
    return interrupted_ || done_.size() >= std::min(wanted, in_flight_);
  }
  // Ends a `wait` for `wanted`: moves as many as fit into `into`. Returns: how many.
  size_t take(std::span<Completion> into, size_t wanted) {
    if (wanted > 0) interrupted_ = false;
    const size_t count = std::min(done_.size(), into.size());
    const auto end = done_.begin() + static_cast<std::ptrdiff_t>(count);
    std::move(done_.begin(), end, into.begin());
    done_.erase(done_.begin(), end);
    in_flight_ -= count;
    return count;
  }

 private:
  std::deque<Completion> done_;
  size_t in_flight_ = 0;
  bool interrupted_ = false;
};

}  // namespace fuelrail
