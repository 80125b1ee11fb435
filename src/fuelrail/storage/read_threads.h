// Threads that read requests with Source::read, or with read_scattered for neighbours.
//
// One lock guards the pending requests. `start` wakes only as many idle threads as it adds
// requests.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "fuelrail/base/guarded.h"
#include "fuelrail/storage/read_queue.h"
#include "fuelrail/storage/read_run.h"

namespace fuelrail {

// Threads: any.
class ReadThreads {
 public:
  // Receives completions, on the thread that read them, without a lock held.
  using Deliver = std::function<void(std::span<Completion>)>;

  ReadThreads(size_t at_once, DirectReads& direct, Deliver deliver)
      : direct_(direct), deliver_(std::move(deliver)), at_once_(at_once) {}
  // Waits for the reads in progress; drops the pending requests.
  ~ReadThreads();
  ReadThreads& operator=(ReadThreads&&) = delete;

  // Adds requests. Errors: IoError if no thread can be started; bad_alloc. An error adds no
  // request.
  void start(std::span<const ReadRequest> requests);
  // Swaps the requests that no thread has begun with `empty`. An empty std::deque is the caller's,
  // because to make one allocates.
  void take_pending(std::deque<ReadRequest>& empty) noexcept;
  void set_at_once(size_t reads);

 private:
  void start_threads(size_t requests) FUELRAIL_REQUIRES(mutex_);
  void run();
  void read_next(ReadRun& run, std::vector<Completion>& done) FUELRAIL_REQUIRES(mutex_);
  bool may_read() const FUELRAIL_REQUIRES(mutex_) {
    return !pending_.empty() && running_ < at_once_;
  }

  DirectReads& direct_;
  const Deliver deliver_;
  Mutex mutex_;
  Condition work_;
  std::deque<ReadRequest> pending_ FUELRAIL_GUARDED_BY(mutex_);
  size_t at_once_ FUELRAIL_GUARDED_BY(mutex_);
  size_t running_ FUELRAIL_GUARDED_BY(mutex_) = 0;  // threads that are reading
  bool stopping_ FUELRAIL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ FUELRAIL_GUARDED_BY(mutex_);
};

}  // namespace fuelrail
