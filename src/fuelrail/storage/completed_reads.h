// A read queue's completions that have not been taken yet.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "fuelrail/storage/read_queue.h"
#include "fuelrail/storage/read_run.h"
#include "fuelrail/storage/reserved_queue.h"

namespace fuelrail {

// Has room for the completions of all requests in flight, so that none is lost for lack of memory.
// Threads: guarded by the owner's lock.
class CompletedReads {
 public:
  // Makes room for the completions of `requests` more requests. Errors: bad_alloc, which changes
  // nothing.
  void make_room(size_t requests) { done_.reserve(in_flight_ + requests); }
  // Announces that `requests` more requests will complete. Requires: `make_room` has made room for
  // them.
  void expect(size_t requests) { in_flight_ += requests; }
  // Of the requests announced by `expect`, this many will not complete after all.
  void forget(size_t requests) { in_flight_ -= requests; }

  // Each `add` requires that `expect` has announced its completions.
  void add(Completion completion) noexcept { done_.push(std::move(completion)); }
  void add(std::span<Completion> completions) noexcept {
    for (Completion& completion : completions) add(std::move(completion));
  }
  template <typename Requests>
  void add_cancelled(const Requests& requests) noexcept {
    for (const ReadRequest& request : requests) add(cancelled(request));
  }

  // As in ReadQueue.
  size_t in_flight() const { return in_flight_; }
  void interrupt() { interrupted_ = true; }

  // Whether no completion is available.
  bool empty() const { return done_.empty(); }
  // Whether a `wait` for `wanted` completions can return.
  bool serve(size_t wanted) const {
    return interrupted_ || done_.size() >= std::min(wanted, in_flight_);
  }
  // Ends a `wait` for `wanted` completions: moves as many as fit into `into`. Returns: the number
  // moved.
  size_t take(std::span<Completion> into, size_t wanted) noexcept {
    if (wanted > 0) interrupted_ = false;
    const size_t count = std::min(done_.size(), into.size());
    for (Completion& completion : into.first(count)) completion = done_.pop();
    in_flight_ -= count;
    return count;
  }

 private:
  ReservedQueue<Completion> done_;
  size_t in_flight_ = 0;
  bool interrupted_ = false;
};

}  // namespace fuelrail
