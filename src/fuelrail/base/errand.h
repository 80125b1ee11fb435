// Work on a thread of its own, which its caller waits for and may leave behind.
//
// A thread that waits in the kernel, for storage that hangs, cannot be ended. Its caller can stop
// waiting for it: the thread then goes on alone, ends when the kernel lets it, and frees what it
// owns. So Ctrl-C, `close` and a program's exit take no longer than the caller is patient.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace fuelrail {

// Copies are the same errand, which runs once. Threads: `run` from one; everything else from any.
class Errand {
 public:
  // How long a caller that gives up still waits for the work to end and clean up.
  static constexpr std::chrono::milliseconds kPatience{700};

  Errand();

  // Runs `work` on a thread of its own, or on this one where the system starts none. Waits until it
  // has ended, or until kPatience after `wait_on` has returned false, which is asked on this thread
  // before the work begins (which then does not) and every 50 ms. Returns: whether the work has
  // ended; what it threw is thrown. Else it is left behind, and what it throws is dropped.
  // Requires: the work owns all that it uses. Lifetime: the work is destroyed on its thread, and
  // before `run` returns where it has ended.
  bool run(std::function<void()> work, const std::function<bool()>& wait_on);

  // For the work: whether its caller still wants it. Where the work runs on the caller's own
  // thread, that asks `wait_on`.
  bool is_wanted() const;

  // For the work: has the caller's thread call `step`, which must not throw. Returns: what `step`
  // returned; false, without a call, where the work is not wanted any more.
  bool ask(const std::function<bool()>& step) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Runs `work`, which ends something and may have to wait for storage first; leaves it behind after
// kPatience. Requires: as Errand::run. What it throws is dropped.
void end_in_time(std::function<void()> work);

// The process ends: what callers want to leave from now on has kPatience together, not each. (It is
// asked for 50 ms in any case.) Threads: any.
void process_ends();

}  // namespace fuelrail
