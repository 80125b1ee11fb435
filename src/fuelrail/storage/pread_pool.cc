#include "fuelrail/storage/pread_pool.h"

#include <utility>

namespace fuelrail {

PreadPool::PreadPool(const ReadOptions& options, ReadQueueCalls calls)
    : direct_(options.direct, std::move(calls.warn)),
      on_completion_(std::move(calls.on_completion)),
      threads_(static_cast<size_t>(options.threads), direct_,
               [this](std::span<Completion> completions) { deliver(completions); }) {}

void PreadPool::submit(std::span<const ReadRequest> requests) {
  {
    const Lock hold(mutex_);
    completed_.make_room(requests.size());
    completed_.expect(requests.size());
  }
  try {
    threads_.start(requests);
  } catch (...) {
    {
      const Lock hold(mutex_);
      completed_.forget(requests.size());
    }
    complete_.notify_one();
    throw;
  }
}

size_t PreadPool::wait(std::span<Completion> into, size_t at_least) {
  const Lock hold(mutex_);
  wanted_ = at_least;
  while (!completed_.serve(wanted_)) complete_.wait(mutex_);
  wanted_ = 0;
  return completed_.take(into, at_least);
}

void PreadPool::interrupt() noexcept {
  {
    const Lock hold(mutex_);
    completed_.interrupt();
  }
  complete_.notify_one();
}

void PreadPool::cancel() noexcept {
  {
    const Lock hold(mutex_);
    threads_.take_pending(cancelled_);
    completed_.add_cancelled(cancelled_);
    cancelled_.clear();
  }
  complete_.notify_one();
}

size_t PreadPool::in_flight() const {
  const Lock hold(mutex_);
  return completed_.in_flight();
}

void PreadPool::deliver(std::span<Completion> completions) {
  bool wakes = false;
  {
    const Lock hold(mutex_);
    completed_.add(completions);
    wakes = wanted_ > 0 && completed_.serve(wanted_);
  }
  if (wakes) complete_.notify_one();
  if (on_completion_) on_completion_();
}

}  // namespace fuelrail
