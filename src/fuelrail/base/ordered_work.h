// Many threads process the items 0, 1, 2, ...; one thread takes the results in that order, within
// bounded memory.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "fuelrail/base/native_thread.h"
#include "fuelrail/base/reorder.h"

namespace fuelrail {

struct OrderedWorkOptions {
  uint64_t items = 0;
  int threads = 1;
  uint64_t capacity_bytes = uint64_t{64} << 20;  // for results that wait to be taken
};

// Threads: `take` from one thread. The destructor stops the threads after their current items.
// Errors of the constructor: IoError if the system cannot start any thread; fewer threads than
// requested are not an error.
template <typename Result>
class OrderedWork {
 public:
  using Worker = std::function<Result(uint64_t item)>;

  // `make_worker` is called once on each thread, so that each worker can reuse its own memory;
  // `bytes_of` returns the size of a result in bytes. `is_last`: whether no items need to be
  // processed after this one, for work whose number of items is not known before; default: never.
  OrderedWork(const OrderedWorkOptions& options, std::function<Worker()> make_worker,
              std::function<uint64_t(const Result&)> bytes_of,
              std::function<bool(const Result&)> is_last = {})
      : items_(options.items),
        make_worker_(std::move(make_worker)),
        bytes_of_(std::move(bytes_of)),
        is_last_(std::move(is_last)),
        finished_(options.capacity_bytes) {
    const auto threads = std::min(static_cast<uint64_t>(std::max(options.threads, 1)), items_);
    threads_.reserve(static_cast<size_t>(threads));
    while (threads_.size() < threads) {
      try {
        threads_.push_back(start_native_thread("fuelrail-work", [this] { work(); }));
      } catch (const IoError&) {
        if (threads_.empty()) throw;
        return;
      }
    }
  }
  OrderedWork& operator=(OrderedWork&&) = delete;
  ~OrderedWork() {
    finished_.close();
    for (std::thread& thread : threads_) thread.join();
  }

  // The next item's result; empty if it is not ready within `patience`. Requires: not all results
  // have been taken. Errors: the worker's exception for this item.
  template <typename Rep, typename Period>
  std::optional<Result> take(std::chrono::duration<Rep, Period> patience) {
    std::optional<Outcome> outcome = finished_.take(patience);
    if (!outcome) return std::nullopt;
    if (auto* error = std::get_if<std::exception_ptr>(&*outcome)) std::rethrow_exception(*error);
    return std::get<Result>(std::move(*outcome));
  }

 private:
  using Outcome = std::variant<Result, std::exception_ptr>;
  static constexpr uint64_t kOverheadBytes = 256;  // per item, besides its result

  void work() {
    try {
      work_on_items();
    } catch (...) {  // no memory to store a result
      finished_.fail(std::current_exception());
    }
  }

  void work_on_items() {
    Worker worker;
    while (!ended_.load(std::memory_order_relaxed)) {
      const uint64_t i = next_.fetch_add(1, std::memory_order_relaxed);
      if (i >= items_) return;
      Outcome outcome = outcome_of(worker, i);
      const auto* result = std::get_if<Result>(&outcome);
      if (result != nullptr && is_last_ && is_last_(*result)) ended_ = true;
      const uint64_t bytes = kOverheadBytes + (result == nullptr ? 0 : bytes_of_(*result));
      if (!finished_.put(i, std::move(outcome), bytes)) return;
    }
  }

  Outcome outcome_of(Worker& worker, uint64_t i) {
    try {
      if (!worker) worker = make_worker_();
      return worker(i);
    } catch (...) {
      return std::current_exception();
    }
  }

  const uint64_t items_;
  const std::function<Worker()> make_worker_;
  const std::function<uint64_t(const Result&)> bytes_of_;
  const std::function<bool(const Result&)> is_last_;
  Reorder<Outcome> finished_;
  std::atomic<uint64_t> next_{0};
  std::atomic<bool> ended_{false};
  std::vector<std::thread> threads_;
};

}  // namespace fuelrail
