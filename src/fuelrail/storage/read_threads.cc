#include "fuelrail/storage/read_threads.h"

#include <algorithm>
#include <new>

#include "fuelrail/base/native_thread.h"

namespace fuelrail {

ReadThreads::~ReadThreads() {
  {
    const Lock hold(mutex_);
    pending_.clear();
    stopping_ = true;
  }
  work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ReadThreads::start(std::span<const ReadRequest> requests) {
  if (requests.empty()) return;
  const std::vector<ReadRequest> sorted = in_order_of_place(requests);
  size_t to_wake = 0;
  {
    const Lock hold(mutex_);
    start_threads(pending_.size() + sorted.size());
    pending_.insert(pending_.end(), sorted.begin(), sorted.end());
    to_wake = std::min(
        {threads_.size() - running_, at_once_ - std::min(at_once_, running_), requests.size()});
  }
  for (size_t i = 0; i < to_wake; ++i) work_.notify_one();
}

void ReadThreads::take_pending(std::deque<ReadRequest>& empty) noexcept {
  const Lock hold(mutex_);
  pending_.swap(empty);
}

void ReadThreads::set_at_once(size_t reads) {
  {
    const Lock hold(mutex_);
    const size_t before = std::exchange(at_once_, reads);
    if (reads <= before || pending_.empty()) return;
    start_threads(pending_.size());
  }
  work_.notify_all();
}

// Starts one thread for each waiting request, up to the maximum.
void ReadThreads::start_threads(size_t requests) {
  const size_t target = std::min(at_once_, requests + running_);
  while (threads_.size() < target) {
    try {
      threads_.reserve(target);  // else a started thread could not be stored
      threads_.push_back(start_native_thread("fuelrail-read", [this] { run(); }));
    } catch (const std::exception&) {  // no thread could be started
      if (threads_.empty()) throw;
      return;  // continue with fewer
    }
  }
}

void ReadThreads::run() {
  ReadRun reads;
  std::vector<Completion> done;
  const Lock hold(mutex_);
  while (true) {
    while (!may_read() && !stopping_) work_.wait(mutex_);
    if (stopping_) return;
    ++running_;
    read_next(reads, done);
    --running_;
  }
}

// If there is no memory to join neighbours, reads one request alone, which allocates nothing.
void ReadThreads::read_next(ReadRun& run, std::vector<Completion>& done) {
  try {
    done.reserve(kMaxRunRequests);
    run.take_from(pending_, direct_.wanted_for(pending_.front()));
  } catch (const std::bad_alloc&) {
    const ReadRequest request = pending_.front();
    pending_.pop_front();
    const Unlocked unlocked(mutex_);
    Completion completion = perform(request, direct_);
    deliver_({&completion, 1});
    return;
  }
  const Unlocked unlocked(mutex_);
  perform(run, direct_, done);
  deliver_(done);
  done.clear();
}

}  // namespace fuelrail
