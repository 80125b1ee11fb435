// Restores the order of results that many threads finish in any order, within bounded memory.
// Producers take the indices 0, 1, 2, ... in that order, compute, and `put` the results; one
// consumer takes them.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <unordered_map>
#include <utility>

#include "fuelrail/base/guarded.h"

namespace fuelrail {

// Threads: `put` and `close` from any thread at once, `take` from one.
template <typename T>
class Reorder {
 public:
  // Waiting items take at most `capacity_bytes`, except the next one in order: it is always
  // accepted, so that no thread waits forever. In addition, each producer may hold one item.
  explicit Reorder(uint64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}
  Reorder& operator=(Reorder&&) = delete;

  // Waits for room, then adds the item. Requires: each index is put once, and only after all lower
  // indices have been given to producers. Returns: false, without adding the item, after `close`.
  bool put(uint64_t index, T item, uint64_t bytes) {
    bool awaited = false;
    {
      const Lock lock(mutex_);
      while (!closed_ && index != next_ && waiting_bytes_ + bytes > capacity_bytes_) {
        room_.wait(mutex_);
      }
      if (closed_) return false;
      waiting_bytes_ += bytes;
      waiting_.emplace(index, Waiting{std::move(item), bytes});
      awaited = index == next_;
    }
    if (awaited) arrived_.notify_one();
    return true;
  }

  // The next item in order; empty if it is not put within `patience`. Errors: the error passed to
  // `fail`.
  std::optional<T> take(std::chrono::milliseconds patience) {
    const auto until = std::chrono::steady_clock::now() + patience;
    std::optional<T> item;
    {
      const Lock lock(mutex_);
      while (!answers() && arrived_.wait_until(mutex_, until)) {
      }
      if (!answers()) return std::nullopt;
      if (failure_) std::rethrow_exception(failure_);
      auto node = waiting_.extract(next_);
      waiting_bytes_ -= node.mapped().bytes;
      ++next_;
      item.emplace(std::move(node.mapped().item));
    }
    room_.notify_all();
    return item;
  }

  // Wakes the producers; no more items are accepted.
  void close() {
    {
      const Lock lock(mutex_);
      closed_ = true;
    }
    room_.notify_all();
  }

  // Reports that an item cannot be produced: calls `close`, and makes every later `take` throw
  // `failure`.
  void fail(std::exception_ptr failure) {
    {
      const Lock lock(mutex_);
      failure_ = std::move(failure);
    }
    close();
    arrived_.notify_one();
  }

  uint64_t waiting_bytes() const {
    const Lock lock(mutex_);
    return waiting_bytes_;
  }

 private:
  struct Waiting {
    T item;
    uint64_t bytes;
  };

  bool answers() const FUELRAIL_REQUIRES(mutex_) { return failure_ || waiting_.contains(next_); }

  const uint64_t capacity_bytes_;
  mutable Mutex mutex_;
  Condition room_;
  Condition arrived_;
  std::unordered_map<uint64_t, Waiting> waiting_ FUELRAIL_GUARDED_BY(mutex_);
  uint64_t waiting_bytes_ FUELRAIL_GUARDED_BY(mutex_) = 0;
  uint64_t next_ FUELRAIL_GUARDED_BY(mutex_) = 0;
  bool closed_ FUELRAIL_GUARDED_BY(mutex_) = false;
  std::exception_ptr failure_ FUELRAIL_GUARDED_BY(mutex_);
};

}  // namespace fuelrail
