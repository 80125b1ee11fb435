// Puts results that many threads finish in any order back into one order, within bounded memory.
// Producers take the indices 0, 1, 2, ... in that order, work, and put; one consumer takes.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

namespace fuelrail {

// Threads: `put` and `close` from any thread at once, `take` from one.
template <typename T>
class Reorder {
 public:
  // Items that wait here never exceed `capacity_bytes`, save the one that is next: it always
  // enters, so that nobody waits for ever. Each producer may hold one more item of its own.
  explicit Reorder(uint64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}
  Reorder(const Reorder&) = delete;
  Reorder& operator=(const Reorder&) = delete;

  // Waits for room. Requires: every index once; an index is put only when all below it were given
  // to a producer. Returns: false, without taking `item`, once closed.
  bool put(uint64_t index, T item, uint64_t bytes) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] {
      return closed_ || index == next_ || waiting_bytes_ + bytes <= capacity_bytes_;
    });
    if (closed_) return false;
    waiting_bytes_ += bytes;
    waiting_.emplace(index, Waiting{std::move(item), bytes});
    const bool awaited = index == next_;
    lock.unlock();
    if (awaited) arrived_.notify_one();
    return true;
  }

  // The next item in order; empty when it has not come within `patience`. Errors: that of `fail`.
  template <typename Rep, typename Period>
  std::optional<T> take(std::chrono::duration<Rep, Period> patience) {
    std::unique_lock lock(mutex_);
    if (!arrived_.wait_for(lock, patience,
                           [this] { return failure_ || waiting_.contains(next_); })) {
      return std::nullopt;
    }
    if (failure_) std::rethrow_exception(failure_);
    auto node = waiting_.extract(next_);
    waiting_bytes_ -= node.mapped().bytes;
    ++next_;
    lock.unlock();
    room_.notify_all();
    return std::move(node.mapped().item);
  }

  // Wakes the producers; nothing more is accepted.
  void close() {
    {
      std::lock_guard lock(mutex_);
      closed_ = true;
    }
    room_.notify_all();
  }

  // An item will never come: closes, and `take` throws `failure` from now on.
  void fail(std::exception_ptr failure) {
    {
      std::lock_guard lock(mutex_);
      failure_ = std::move(failure);
    }
    close();
    arrived_.notify_one();
  }

  uint64_t waiting_bytes() const {
    std::lock_guard lock(mutex_);
    return waiting_bytes_;
  }

 private:
  struct Waiting {
    T item;
    uint64_t bytes;
  };

  const uint64_t capacity_bytes_;
  mutable std::mutex mutex_;
  std::condition_variable room_;
  std::condition_variable arrived_;
  std::unordered_map<uint64_t, Waiting> waiting_;
  uint64_t waiting_bytes_ = 0;
  uint64_t next_ = 0;
  bool closed_ = false;
  std::exception_ptr failure_;
};

}  // namespace fuelrail
