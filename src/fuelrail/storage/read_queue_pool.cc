#include "fuelrail/storage/read_queue_pool.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/base/guarded.h"

namespace fuelrail {
namespace {

class Queues {
 public:
  // Never destroyed, because threads may read while the process ends.
  static Queues& of_process() {
    static Queues* const queues = new Queues;
    return *queues;
  }

  // Returns: whether one more queue may be lent. Sets `queue` to an idle one with these options, if
  // one exists.
  bool lend(const ReadOptions& options, std::unique_ptr<ReadQueue>& queue) {
    const Lock hold(mutex_);
    if (lent_ >= kMostLentQueues) return false;
    ++lent_;
    const auto at = std::find_if(idle_.begin(), idle_.end(),
                                 [&](const Idle& idle) { return idle.options == options; });
    if (at != idle_.end()) {
      queue = std::move(at->queue);
      idle_.erase(at);
    }
    return true;
  }

  // `queue` may be null.
  void take_back(const ReadOptions& options, std::unique_ptr<ReadQueue> queue) noexcept {
    std::unique_ptr<ReadQueue> oldest;  // destroyed outside the lock, because it joins threads
    const Lock hold(mutex_);
    --lent_;
    if (!queue) return;
    if (idle_.size() == kMostIdleQueues) {
      oldest = std::move(idle_.front().queue);
      idle_.erase(idle_.begin());
    }
    idle_.push_back({options, std::move(queue)});  // capacity was reserved
  }

  void free_idle() {
    std::vector<Idle> freed;  // destroyed outside the lock, because it joins threads
    freed.reserve(kMostIdleQueues);
    const Lock hold(mutex_);
    std::swap(idle_, freed);
  }

  size_t idle() {
    const Lock hold(mutex_);
    return idle_.size();
  }

 private:
  struct Idle {
    ReadOptions options;
    std::unique_ptr<ReadQueue> queue;
  };

  Queues() {
    idle_.reserve(kMostIdleQueues);
    ::pthread_atfork([]() FUELRAIL_UNCHECKED { of_process().mutex_.lock(); },
                     []() FUELRAIL_UNCHECKED { of_process().mutex_.unlock(); },
                     []() FUELRAIL_UNCHECKED { of_process().begin_anew(); });
  }

  // In a forked child: drops the parent's queues, whose destructors then only abandon their
  // threads.
  void begin_anew() FUELRAIL_RELEASE(mutex_) {
    idle_.clear();
    lent_ = 0;
    mutex_.unlock();
  }

  Mutex mutex_;
  std::vector<Idle> idle_ FUELRAIL_GUARDED_BY(mutex_);  // in the order of their return
  size_t lent_ FUELRAIL_GUARDED_BY(mutex_) = 0;
};

// Created when the library is loaded, before threads exist: a fork during its creation by another
// thread would block the child forever.
[[maybe_unused]] const Queues& kQueuesMadeAtLoad = Queues::of_process();

}  // namespace

QueueLease::QueueLease(const ReadOptions& options) : options_(options) {
  if (!Queues::of_process().lend(options_, queue_) || queue_) return;
  try {
    queue_ = make_read_queue(options_);
  } catch (const IoError&) {
    Queues::of_process().take_back(options_, nullptr);
  } catch (...) {
    Queues::of_process().take_back(options_, nullptr);
    throw;
  }
}

QueueLease::~QueueLease() {
  if (!queue_ || process_.is_parents()) return;  // this process did not count it
  try {
    queue_->cancel();
    std::array<Completion, 16> ignored;
    while (queue_->in_flight() > 0) queue_->wait(ignored, 1);
  } catch (const std::exception&) {
    queue_.reset();  // its destructor waits, too
  }
  Queues::of_process().take_back(options_, std::move(queue_));
}

void free_idle_read_queues() { Queues::of_process().free_idle(); }
size_t idle_read_queues() { return Queues::of_process().idle(); }

}  // namespace fuelrail
