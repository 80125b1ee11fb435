// A handle on a part of the core whose `next_for` gives batches that threads make: a loader, an
// iterator of MXNet's.
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

  // Does not wait for a call in another thread: it ends that call. In a forked child there is
  // nothing to stop: the threads are the parent's.
  void stop() {
    stop_after([] {});
  }

 protected:
  // `who`: as NativeCalls has it. The derived class makes `core_`.
  explicit CoreHandle(std::string who) : calls_(std::move(who)) {}
  ~CoreHandle() {
    stop();
    if (calls_.torn()) new std::shared_ptr(std::move(core_));  // its locks are held for ever
  }

  // `first` is called before, without the GIL, where there is something to stop.
  template <typename First>
  void stop_after(First first) {
    calls_.notice_fork();
    if (calls_.foreign() || calls_.torn() || !core_) return;
    const GilReleased released;
    first();
    calls_.stop(core_);
  }

  // Waits for the batch of `take(timeout)`, while Python's signal handlers get their turn, and
  // calls `waiting` meanwhile. Returns: empty at the end of the epoch.
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

  // Of a dense column.
  static Array array_of(const Batch& batch, size_t column) {
    return {batch.owner(), batch.column(column), batch.layout().columns()[column].dtype,
            batch.shape(column)};
  }

  NativeCalls calls_;
  std::shared_ptr<Core> core_;
};

}  // namespace fuelrail::python
