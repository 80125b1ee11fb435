// An object that each process has for itself: a forked child makes its own.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "fuelrail/base/own_process.h"

namespace fuelrail {

// Threads: any.
template <typename T>
class PerProcess {
 public:
  using Make = std::function<std::unique_ptr<T>()>;

  explicit PerProcess(Make make) : make_(std::move(make)) {}
  ~PerProcess() {
    Owned* const now = owned_.load(std::memory_order_acquire);
    if (now != nullptr && !now->process.is_parents()) delete now;
  }
  PerProcess& operator=(PerProcess&&) = delete;

  // Makes the object when it is first used. In a forked child, the parent's object is leaked: one
  // of the parent's threads may have held its lock.
  T& mine() const {
    Owned* now = owned_.load(std::memory_order_acquire);
    while (now == nullptr || now->process.is_parents()) {
      auto fresh = std::make_unique<Owned>(make_());
      if (owned_.compare_exchange_strong(now, fresh.get(), std::memory_order_acq_rel)) {
        return *fresh.release()->object;
      }
    }
    return *now->object;
  }

 private:
  struct Owned {
    explicit Owned(std::unique_ptr<T> made) : object(std::move(made)) {}

    const std::unique_ptr<T> object;
    const OwnProcess process;
  };

  const Make make_;
  mutable std::atomic<Owned*> owned_ = nullptr;
};

}  // namespace fuelrail
