#include "fuelrail/sampler/feed.h"

#include <utility>

#include "fuelrail/base/error.h"

namespace fuelrail {

void Feed::push(FedBatch batch) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(batch));
  }
  changed_.notify_one();
}

void Feed::end() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
}

std::optional<FedBatch> Feed::pop() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return closed_ || ended_ || !waiting_.empty(); });
  if (closed_) throw StateError("the order is no longer fed");
  if (waiting_.empty()) return std::nullopt;
  FedBatch batch = std::move(waiting_.front());
  waiting_.pop_front();
  return batch;
}

void Feed::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

}  // namespace fuelrail
