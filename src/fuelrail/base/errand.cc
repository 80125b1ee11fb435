#include "fuelrail/base/errand.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/base/guarded.h"
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
  void answer() FUELRAIL_REQUIRES(mutex);

  std::atomic<bool> wanted = true;
  std::atomic<bool> apart = false;  // the work has its own thread
  Mutex one_at_a_time;              // held by the calling thread
  Mutex mutex;
  Condition for_caller;  // the work asks for a step, or has ended
  Condition for_work;    // the step has been called, or the caller has left
  const std::function<bool()>* still_wanted = nullptr;  // for work on the caller's thread
  const std::function<bool()>* asked FUELRAIL_GUARDED_BY(mutex) = nullptr;
  bool answered FUELRAIL_GUARDED_BY(mutex) = false;
  bool answer_given FUELRAIL_GUARDED_BY(mutex) = false;
  bool ended FUELRAIL_GUARDED_BY(mutex) = false;
  bool left FUELRAIL_GUARDED_BY(mutex) = false;
  std::exception_ptr error FUELRAIL_GUARDED_BY(mutex);
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
  } catch (const IoError&) {  // no thread can be started
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
  const Lock hold(state_->mutex);
  if (state_->error) std::rethrow_exception(std::exchange(state_->error, nullptr));
  return true;
}

bool Errand::is_wanted() const {
  if (state_->still_wanted != nullptr) return (*state_->still_wanted)();
  return state_->wanted.load(std::memory_order_relaxed);
}

bool Errand::ask(const std::function<bool()>& step) const {
  if (!state_->apart.load()) return step();
  const Lock asking(state_->one_at_a_time);
  const Lock hold(state_->mutex);
  if (state_->left) return false;
  state_->asked = &step;
  state_->answered = false;
  state_->for_caller.notify_one();
  while (!state_->answered && !state_->left) state_->for_work.wait(state_->mutex);
  state_->asked = nullptr;
  return state_->answered && state_->answer_given;
}

// Destroys the work before it reports the end, so that everything the work owned is gone when the
// caller's wait ends.
void Errand::State::run_and_end(std::function<void()>& work) {
  std::exception_ptr failure;
  try {
    work();
  } catch (...) {
    failure = std::current_exception();
  }
  work = nullptr;
  const Lock hold(mutex);
  error = std::move(failure);
  ended = true;
  for_caller.notify_one();
}

// Returns: true if the work has ended; false if it is left behind.
bool Errand::State::serve(const std::function<bool()>& wait_on) {
  auto leave_at = Clock::time_point::max();
  const Lock hold(mutex);
  while (true) {
    const auto until = std::min(leave_at, Clock::now() + kAskEvery);
    while (!ended && asked == nullptr && for_caller.wait_until(mutex, until)) {
    }
    if (ended) return true;
    if (asked != nullptr && !answered) answer();
    {
      const Unlocked unlocked(mutex);
      if (wanted.load() && !wait_on()) {
        wanted.store(false);
        leave_at = std::min(Clock::now() + kPatience, all_left_at.load());
      }
    }
    if (!ended && Clock::now() >= leave_at) {
      left = true;
      for_work.notify_all();
      return false;
    }
  }
}

void Errand::State::answer() {
  bool given = false;
  if (wanted.load()) {
    const std::function<bool()>& step = *asked;  // valid: the thread that asked is waiting
    const Unlocked unlocked(mutex);
    given = step();
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
