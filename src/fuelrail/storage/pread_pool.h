// The read queue that uses only pread: threads that read, and a caller that waits for them.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <span>

#include "fuelrail/base/guarded.h"
#include "fuelrail/storage/completed_reads.h"
#include "fuelrail/storage/read_queue.h"
#include "fuelrail/storage/read_run.h"
#include "fuelrail/storage/read_threads.h"

namespace fuelrail {

// Methods: as in ReadQueue. The waiting caller is woken only once, when all requests that it waits
// for have completed.
class PreadPool {
 public:
  PreadPool(const ReadOptions& options, ReadQueueCalls calls);

  void submit(std::span<const ReadRequest> requests);
  size_t wait(std::span<Completion> into, size_t at_least);
  void interrupt() noexcept;
  void cancel() noexcept;
  size_t in_flight() const;
  void set_threads(int threads) { threads_.set_at_once(static_cast<size_t>(threads)); }
  const char* backend_name() const { return "pread"; }

 private:
  void deliver(std::span<Completion> completions);

  DirectReads direct_;
  const std::function<void()> on_completion_;
  mutable Mutex mutex_;
  Condition complete_;
  CompletedReads completed_ FUELRAIL_GUARDED_BY(mutex_);
  std::deque<ReadRequest> cancelled_ FUELRAIL_GUARDED_BY(mutex_);  // empty except in `cancel`
  size_t wanted_ FUELRAIL_GUARDED_BY(mutex_) = 0;                  // by `wait`; 0 = no call waits
  ReadThreads threads_;  // destroyed first: uses the other members
};

}  // namespace fuelrail
