// Base class of handles whose calls run on, or wait for, threads of the core. The calls run for one
// Python thread at a time, without the GIL, and never in a process that was forked from the owner
// of the threads.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>

#include "bindings.h"
#include "fuelrail/base/errand.h"
#include "fuelrail/base/error.h"
#include "fuelrail/base/own_process.h"

namespace fuelrail::python {

// Whether the mutex is free. In a forked child, it may be locked for ever by a thread that exists
// only in the parent.
inline bool is_free(std::mutex& mutex) {
  return std::unique_lock(mutex, std::try_to_lock).owns_lock();
}

class NativeCalls {
 public:
  // `who` is the subject of the errors' texts: "the loader".
  explicit NativeCalls(std::string who) : who_(std::move(who)) {}

  // Runs `function` without the GIL, for one caller at a time. Requires: the caller holds the GIL.
  // Errors: those of check_process.
  template <typename Function>
  std::invoke_result_t<Function> call(Function function) {
    check_process();  // before locking the mutex, which may have been locked during the fork
    const GilReleased released;
    const std::lock_guard<std::mutex> lock(mutex_);
    return function();
  }

  // Called when the core's threads start in this process.
  void start() { process_.begin(); }
  bool started() const { return process_.begun(); }

  // Whether the threads were started in the process from which this one was forked.
  bool foreign() const { return process_.is_parents(); }

  // Ends the threads of `core`. Threads that do not end in time are abandoned, and keep the objects
  // that they use until they end. A second call does nothing. Requires: the caller does not hold
  // the GIL.
  template <typename Core>
  void stop(const std::shared_ptr<Core>& core) {
    if (stopped_.exchange(true)) return;
    if (started()) {
      end_in_time([core] { core->stop(); });
    } else {
      core->stop();
    }
  }

  // Whether another thread was using the handle during the fork, so that its locks are never
  // released.
  bool torn() const { return torn_; }

  // Requires: the caller holds the GIL and no other lock. A forked child may use a handle that had
  // not started, unless a thread of the parent was using it during the fork.
  void notice_fork() {
    if (seen_in_.take_over()) torn_ = !is_free(mutex_);
  }

  // Errors: StateError in a forked child that cannot use the handle.
  void check_process() {
    notice_fork();
    if (foreign()) {
      throw StateError(
          who_ + " was started in another process, and a fork does not copy its threads",
          {.remedy = "Create " + who_ + " after the fork"});
    }
    if (torn_) {
      throw StateError("another thread was using " + who_ + " during the fork",
                       {.remedy = "Create " + who_ + " after the fork"});
    }
  }

 private:
  const std::string who_;
  std::mutex mutex_;
  OwnProcess process_{OwnProcess::Since::kBegin};  // the process of the threads
  std::atomic<bool> stopped_ = false;
  OwnProcess seen_in_;
  bool torn_ = false;
};

// A writer's open files, behind a lock, because several Python threads may write and the GIL is not
// held during a write. A forked child never takes the lock and never touches the files.
template <typename Files>
class WrittenFiles {
 public:
  WrittenFiles(std::string uri, std::unique_ptr<Files> files)
      : uri_(std::move(uri)), files_(std::move(files)) {}
  ~WrittenFiles() {
    // A thread of the parent was writing during the fork, so its memory must not be touched.
    if (process_.is_parents() && !is_free(mutex_)) static_cast<void>(files_.release());
  }
  WrittenFiles& operator=(WrittenFiles&&) = delete;

  const std::string& uri() const { return uri_; }

  // Returns: function(files). Errors: StateError in a forked child and after `discard`.
  template <typename Function>
  auto with(Function function) {
    if (process_.is_parents()) {
      throw StateError("the file is being written by the parent process",
                       {.path = uri_, .remedy = "Write to a different file in this process"});
    }
    const std::lock_guard hold(mutex_);
    if (files_) return function(*files_);
    throw StateError("the writer is closed", {.path = uri_, .remedy = "Create a new writer"});
  }

  // Removes unfinished files, even if another object, such as a traceback, still holds the writer.
  void discard() {
    if (process_.is_parents()) return;
    const std::lock_guard hold(mutex_);
    files_.reset();
  }

 private:
  const OwnProcess process_;
  const std::string uri_;
  std::mutex mutex_;
  std::unique_ptr<Files> files_;
};

}  // namespace fuelrail::python
