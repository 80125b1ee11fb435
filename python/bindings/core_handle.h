// Base class of handles for objects of the core whose `next_for` returns batches made by threads: a
// loader and MXNet's iterators.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "bindings.h"
#include "fuelrail/batch/batch.h"
#include "fuelrail/engine/engine.h"
#include "native_handle.h"

namespace fuelrail::python {

template <typename Core>
class CoreHandle {
 public:
  CoreHandle& operator=(CoreHandle&&) = delete;

  Stats stats() {
    calls_.check_process();
    const GilReleased released;
    return core_->stats();
  }

  // Ends the threads, and also a call that is running in a different thread, without waiting for
  // that call. Does nothing in a forked child, because the threads belong to the parent.
  void stop() {
    stop_after([] {});
  }

 protected:
  // `who`: as in NativeCalls. The derived class creates `core_`.
  explicit CoreHandle(std::string who) : calls_(std::move(who)) {}
  ~CoreHandle() {
    stop();
    if (calls_.torn()) new std::shared_ptr(std::move(core_));  // its locks are never released
  }

  // Stops the threads, if any are running. Before that, calls `first` without the GIL.
  template <typename First>
  void stop_after(First first) {
    calls_.notice_fork();
    if (calls_.foreign() || calls_.torn() || !core_) return;
    const GilReleased released;
    first();
    calls_.stop(core_);
  }

  // Waits for the batch that `take(timeout)` returns; while it waits, runs Python's signal handlers
  // and calls `waiting`. Returns: empty at the end of the epoch.
  template <typename Take, typename Waiting>
  auto next_batch(Take take, Waiting waiting) {
    constexpr std::chrono::milliseconds kPoll(50);
    calls_.check_process();
    calls_.start();
    for (;;) {
      auto next = calls_.call([&] { return take(kPoll); });
      if (next.status != Engine::Status::kTimeout) return std::move(next.batch);
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      waiting();
    }
  }

  // The array of a dense column.
  static Array array_of(const Batch& batch, size_t column) {
    return {batch.owner(), batch.column(column), batch.layout().columns()[column].dtype,
            batch.shape(column)};
  }

  NativeCalls calls_;
  std::shared_ptr<Core> core_;
};

}  // namespace fuelrail::python
