// Read queues that the process shares: one is lent for a batch of reads and comes back, so that a
// thousand readers cost no more threads and rings than those that read at the moment.
//
// Threads: any. Fork: a child begins with none; the parent's are let go.
#pragma once

#include <cstddef>
#include <memory>

#include "fuelrail/base/own_process.h"
#include "fuelrail/storage/read_queue.h"

namespace fuelrail {

inline constexpr size_t kMostIdleQueues = 4;
inline constexpr size_t kMostLentQueues = 16;  // more would compete for the same device

// A queue for as long as the lease lives.
class QueueLease {
 public:
  // Gives none where kMostLentQueues are lent, or the system has not the means for another: then
  // the caller reads by itself. Errors: those of make_read_queue, but for IoError.
  explicit QueueLease(const ReadOptions& options);
  // Waits for what is in flight; what is not begun is cancelled. In a forked child, of a lease that
  // the parent took: lets go.
  ~QueueLease();
  QueueLease& operator=(QueueLease&&) = delete;

  ReadQueue* queue() const { return queue_.get(); }

 private:
  ReadOptions options_;
  const OwnProcess process_;
  std::unique_ptr<ReadQueue> queue_;
};

}  // namespace fuelrail
