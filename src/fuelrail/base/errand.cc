#include "fuelrail/base/errand.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/base/native_thread.h"

namespace fuelrail {
namespace {

constexpr std::chrono::milliseconds kAskEvery(50);

using Clock = std::chrono::steady_clock;

std::atomic<Clock::time_point> all_left_at = Clock::time_point::max();

}  // namespace

struct Errand::State {
  void run_and_end(std::function<void()>& work);
  bool serve(const std::function<bool()>& wait_on);
  void answer(std::unique_lock<std::mutex>& hold);

  std::atomic<bool> wanted = true;
  std::atomic<bool> apart = false;  // the work has a thread of its own
  std::mutex one_at_a_time;         // of those who ask
  std::mutex mutex;
  std::condition_variable for_caller;  // something is asked, or the work has ended
  std::condition_variable for_work;    // something is answered, or the caller has left
  const std::function<bool()>* still_wanted = nullptr;  // of work on the caller's own thread
  const std::function<bool()>* asked = nullptr;
  bool answered = false;
  bool answer_given = false;
  bool ended = false;
  bool left = false;
  std::exception_ptr error;
};

Errand::Errand() : state_(std::make_shared<State>()) {}

bool Errand::run(std::function<void()> work, const std::function<bool()>& wait_on) {
  if (!wait_on()) return false;
  auto own = std::make_shared<std::function<void()>>(std::move(work));
  std::thread thread;
  state_->apart.store(true);
  try {
    thread = start_native_thread("fuelrail-errand",
                                 [state = state_, own]() mutable { state->run_and_end(*own); });
  } catch (const IoError&) {  // there is no further thread
    state_->apart.store(false);
    state_->still_wanted = &wait_on;
    (*own)();
    return true;
  }
  own.reset();
  if (!state_->serve(wait_on)) {
    thread.detach();
    return false;
  }
  thread.join();
  if (state_->error) std::rethrow_exception(std::exchange(state_->error, nullptr));
  return true;
}

bool Errand::is_wanted() const {
  if (state_->still_wanted != nullptr) return (*state_->still_wanted)();
  return state_->wanted.load(std::memory_order_relaxed);
}

bool Errand::ask(const std::function<bool()>& step) const {
  if (!state_->apart.load()) return step();
  const std::lock_guard asking(state_->one_at_a_time);
  std::unique_lock hold(state_->mutex);
  if (state_->left) return false;
  state_->asked = &step;
  state_->answered = false;
  state_->for_caller.notify_one();
  state_->for_work.wait(hold, [this] { return state_->answered || state_->left; });
  state_->asked = nullptr;
  return state_->answered && state_->answer_given;
}

// The work is destroyed before its end is told, so that a caller who waited finds all it owned
// gone.
void Errand::State::run_and_end(std::function<void()>& work) {
  std::exception_ptr failure;
  try {
    work();
  } catch (...) {
    failure = std::current_exception();
  }
  work = nullptr;
  const std::lock_guard hold(mutex);
  error = std::move(failure);
  ended = true;
  for_caller.notify_one();
}

// Returns: whether the work has ended; else it is left.
bool Errand::State::serve(const std::function<bool()>& wait_on) {
  auto leave_at = Clock::time_point::max();
  std::unique_lock hold(mutex);
  while (true) {
    for_caller.wait_until(hold, std::min(leave_at, Clock::now() + kAskEvery),
                          [this] { return ended || asked != nullptr; });
    if (ended) return true;
    if (asked != nullptr && !answered) answer(hold);
    hold.unlock();
    if (wanted.load() && !wait_on()) {
      wanted.store(false);
      leave_at = std::min(Clock::now() + kPatience, all_left_at.load());
    }
    hold.lock();
    if (!ended && Clock::now() >= leave_at) {
      left = true;
      for_work.notify_all();
      return false;
    }
  }
}

void Errand::State::answer(std::unique_lock<std::mutex>& hold) {
  bool given = false;
  if (wanted.load()) {
    hold.unlock();
    given = (*asked)();  // who asks waits for it
    hold.lock();
  }
  asked = nullptr;
  answer_given = given;
  answered = true;
  for_work.notify_all();
}

void process_ends() { all_left_at.store(Clock::now() + Errand::kPatience); }

void end_in_time(std::function<void()> work) {
  bool begun = false;
  try {
    Errand().run(std::move(work), [&begun] { return !std::exchange(begun, true); });
  } catch (...) {
  }
}

}  // namespace fuelrail
