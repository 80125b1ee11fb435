#include "fuelrail/storage/pread_pool.h"

#include <algorithm>
#include <deque>
#include <utility>

namespace fuelrail {

PreadPool::PreadPool(const ReadQueueOptions& options)
    : direct_(options.direct, options.warn),
      on_completion_(options.on_completion),
      threads_(static_cast<size_t>(options.threads), direct_,
               [this](std::span<Completion> completions) { deliver(completions); }) {}

void PreadPool::submit(std::span<const ReadRequest> requests) {
  {
    std::lock_guard hold(mutex_);
    done_.reserve(in_flight_ + requests.size());
    in_flight_ += requests.size();
  }
  try {
    threads_.start(requests);
  } catch (...) {
    {
      std::lock_guard hold(mutex_);
      in_flight_ -= requests.size();
    }
    complete_.notify_one();
    throw;
  }
}

size_t PreadPool::wait(std::span<Completion> into, size_t at_least) {
  std::unique_lock hold(mutex_);
  wanted_ = at_least;
  complete_.wait(hold, [this] { return waiter_is_served(); });
  if (at_least > 0) interrupted_ = false;
  wanted_ = 0;
  const size_t count = take_completions(done_, into);
  in_flight_ -= count;
  return count;
}

void PreadPool::interrupt() {
  {
    std::lock_guard hold(mutex_);
    interrupted_ = true;
  }
  complete_.notify_one();
}

void PreadPool::cancel() {
  const std::deque<ReadRequest> pending = threads_.take_pending();
  {
    std::lock_guard hold(mutex_);
    for (const ReadRequest& request : pending) done_.push(cancelled(request));
  }
  complete_.notify_one();
}

size_t PreadPool::in_flight() const {
  std::lock_guard hold(mutex_);
  return in_flight_;
}

void PreadPool::deliver(std::span<Completion> completions) {
  bool wakes = false;
  {
    std::lock_guard hold(mutex_);
    for (Completion& completion : completions) done_.push(std::move(completion));
    wakes = wanted_ > 0 && waiter_is_served();
  }
  if (wakes) complete_.notify_one();
  if (on_completion_) on_completion_();
}

}  // namespace fuelrail
