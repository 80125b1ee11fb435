// Read queues that the whole process shares. A queue is lent for one batch of reads, so that of a
// thousand readers, only those that are reading at the moment need threads and rings.
//
// Threads: any. Fork: a child starts without queues and abandons the parent's queues.
#pragma once

#include <cstddef>
#include <memory>

#include "fuelrail/base/own_process.h"
#include "fuelrail/storage/read_queue.h"

namespace fuelrail {

inline constexpr size_t kMostIdleQueues = 4;
inline constexpr size_t kMostLentQueues = 16;  // more would compete for the same device

// Holds a queue while it exists.
class QueueLease {
 public:
  // Gets no queue if kMostLentQueues are lent, or if the system has no resources for one more. The
  // caller then reads on its own thread. Errors: those of make_read_queue, except IoError.
  explicit QueueLease(const ReadOptions& options);
  // Cancels the pending requests, waits for the reads in progress, and returns the queue. In a
  // forked child, abandons a queue that was lent before the fork.
  ~QueueLease();
  QueueLease& operator=(QueueLease&&) = delete;

  ReadQueue* queue() const { return queue_.get(); }

 private:
  ReadOptions options_;
  const OwnProcess process_;
  std::unique_ptr<ReadQueue> queue_;
};

}  // namespace fuelrail
