// Runs work on a separate thread; the caller waits for it and may leave it behind.
//
// A thread that waits in the kernel for hanging storage cannot be ended. But its caller can stop
// waiting. The thread then continues alone, ends when its system call returns, and frees everything
// it owns. So Ctrl-C, `close` and a program's exit never take much longer than kPatience.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace fuelrail {

// Copies share one errand, which runs once. Threads: `run` from one thread, everything else from
// any.
class Errand {
 public:
  // How long `run` still waits, after the caller has given up, for the work to clean up and end.
  static constexpr std::chrono::milliseconds kPatience{700};

  Errand();

  // Runs `work` on a new thread, or on this thread if the system cannot start one. Calls `wait_on`
  // on this thread, before the work begins and then every 50 ms. If the first call returns false,
  // the work is not started. If a later call returns false, `run` waits kPatience longer and then
  // leaves the work behind. Returns: true if the work has ended, false otherwise. Errors: those of
  // the work, if it has ended; errors of work that is left behind are dropped. Requires: the work
  // owns everything that it uses. Lifetime: the work is destroyed on the thread that ran it, and
  // before `run` returns true.
  bool run(std::function<void()> work, const std::function<bool()>& wait_on);

  // Called by the work: whether the caller still waits for it. If the work runs on the caller's
  // thread, this calls `wait_on`.
  bool is_wanted() const;

  // Called by the work: makes the caller's thread call `step`, which must not throw. Returns: the
  // value that `step` returned; false, without calling it, if the caller has given up.
  bool ask(const std::function<bool()>& step) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Runs `work`, which shuts something down and may wait for storage. If it takes longer than
// kPatience, leaves it behind. Drops errors of the work. Requires: as for Errand::run.
void end_in_time(std::function<void()> work);

// Called when the process ends: from now on, all callers together wait one kPatience for work that
// they have given up, instead of one kPatience each. (Each caller still waits up to 50 ms between
// two calls of `wait_on`.) Threads: any.
void process_ends();

}  // namespace fuelrail
