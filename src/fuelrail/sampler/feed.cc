#include "fuelrail/sampler/feed.h"

#include <utility>

#include "fuelrail/base/error.h"

namespace fuelrail {

void Feed::push(FedBatch batch) {
  {
    const Lock lock(mutex_);
    waiting_.push_back(std::move(batch));
  }
  changed_.notify_one();
}

void Feed::end() {
  {
    const Lock lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
}

std::optional<FedBatch> Feed::pop() {
  const Lock lock(mutex_);
  while (!closed_ && !ended_ && waiting_.empty()) changed_.wait(mutex_);
  if (closed_) throw StateError("the queue of batches is closed");
  if (waiting_.empty()) return std::nullopt;
  FedBatch batch = std::move(waiting_.front());
  waiting_.pop_front();
  return batch;
}

void Feed::close() {
  {
    const Lock lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

}  // namespace fuelrail
