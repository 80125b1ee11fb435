// What a handle does whose calls run on, or wait for, threads of the core: one Python thread at a
// time, without the GIL, and never in a process that was forked from the one that owns the threads.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>

#include "bindings.h"
#include "fuelrail/base/errand.h"
#include "fuelrail/base/error.h"

namespace fuelrail::python {

class NativeCalls {
 public:
  // `who` is the subject of the errors: "the loader".
  explicit NativeCalls(std::string who) : who_(std::move(who)) {}

  // Runs `function` without the GIL, one caller at a time. Called with the GIL. Errors: those of
  // check_process.
  template <typename Function>
  std::invoke_result_t<Function> call(Function function) {
    check_process();  // before the mutex, which may have been held at the fork
    const GilReleased released;
    const std::lock_guard<std::mutex> lock(mutex_);
    return function();
  }

  // From here on the core's threads run, in this process.
  void start() {
    if (process_.load() == 0) process_.store(getpid());
  }
  bool started() const { return process_.load() != 0; }

  // Whether the threads are those of the process that this one was forked from.
  bool foreign() const {
    const pid_t process = process_.load();
    return process != 0 && process != getpid();
  }

  // Ends the threads of `core`; leaves them behind where they do not end in time, with all that
  // they use, until they do. Again it does nothing. Called without the GIL.
  template <typename Core>
  void stop(const std::shared_ptr<Core>& core) {
    if (stopped_.exchange(true)) return;
    if (started()) {
      end_in_time([core] { core->stop(); });
    } else {
      core->stop();
    }
  }

  // Whether another thread held the handle at the fork: its locks are held for ever.
  bool torn() const { return torn_; }

  // Called with the GIL, before any lock. A handle that had not started may be used in a forked
  // child, unless a thread that is not there any more holds it.
  void notice_fork() {
    if (seen_in_ == getpid()) return;
    seen_in_ = getpid();
    torn_ = !mutex_.try_lock();
    if (!torn_) mutex_.unlock();
  }

  // Errors: StateError in a forked child that cannot use the handle.
  void check_process() {
    notice_fork();
    if (foreign()) {
      throw StateError(who_ + " runs in another process, whose threads a fork does not copy",
                       {.remedy = "Make " + who_ + " after the fork"});
    }
    if (torn_) {
      throw StateError("another thread was in the middle of using " + who_ + " at the fork",
                       {.remedy = "Make " + who_ + " after the fork"});
    }
  }

 private:
  const std::string who_;
  std::mutex mutex_;
  std::atomic<pid_t> process_ = 0;  // 0 before the threads start
  std::atomic<bool> stopped_ = false;
  pid_t seen_in_ = getpid();
  bool torn_ = false;
};

}  // namespace fuelrail::python
