// Lets tests block threads and wait for them, independent of timing.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <thread>

namespace fuelrail {

// Longer than any correct step needs, so that a failing test also ends.
inline constexpr std::chrono::seconds kPatience(60);

// Returns: whether the condition becomes true within that time.
template <typename Condition>
bool within_patience(Condition condition) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::yield();
  }
  return true;
}

// Lets waiting threads pass on request, the lowest number first. Used for storage, checks of files
// and workers that proceed when the test allows it. Threads: any.
class Turnstile {
 public:
  void pass(uint64_t number) {
    std::unique_lock lock(mutex_);
    ++arrived_;
    waiting_.insert(number);
    changed_.notify_all();
    changed_.wait(lock,
                  [&] { return open_ || (passed_ < released_ && number == *waiting_.begin()); });
    ++passed_;
    waiting_.erase(waiting_.find(number));
    if (!open_) changed_.notify_all();
  }
  // Waits until `threads` more threads have arrived than were let pass. Returns: whether they have
  // within the time limit.
  bool await(size_t threads) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return arrived_ >= released_ + threads; });
  }
  size_t arrived() const {
    std::lock_guard lock(mutex_);
    return arrived_;
  }
  // Lets the next `threads` pass. Returns: the total number that was let pass.
  size_t release(size_t threads) {
    std::lock_guard lock(mutex_);
    released_ += threads;
    changed_.notify_all();
    return released_;
  }
  // Lets all threads pass from now on.
  void open() {
    std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::multiset<uint64_t> waiting_;  // numbers
  size_t arrived_ = 0;
  size_t released_ = 0;
  size_t passed_ = 0;
  bool open_ = false;
};

}  // namespace fuelrail
