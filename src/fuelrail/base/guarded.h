// A mutex, and annotations for the members that it guards. Every build with clang checks
// (-Wthread-safety, as an error) that the mutex is held wherever such a member is used. Under g++
// the annotations are empty.
//
//   class Sum {
//    public:
//     void add(int n) { const Lock lock(mutex_); sum_ += n; }
//    private:
//     int doubled() const FUELRAIL_REQUIRES(mutex_) { return 2 * sum_; }  // its caller holds it
//     mutable Mutex mutex_;
//     int sum_ FUELRAIL_GUARDED_BY(mutex_) = 0;
//   };
//
// `Condition::wait` takes no predicate, because clang checks a lambda as a separate function. Call
// `wait` in a loop.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define FUELRAIL_ANNOTATION(x) __attribute__((x))
#else
#define FUELRAIL_ANNOTATION(x)
#endif
#define FUELRAIL_GUARDED_BY(x) FUELRAIL_ANNOTATION(guarded_by(x))
#define FUELRAIL_REQUIRES(...) FUELRAIL_ANNOTATION(requires_capability(__VA_ARGS__))
#define FUELRAIL_ACQUIRE(...) FUELRAIL_ANNOTATION(acquire_capability(__VA_ARGS__))
#define FUELRAIL_RELEASE(...) FUELRAIL_ANNOTATION(release_capability(__VA_ARGS__))
#define FUELRAIL_UNCHECKED FUELRAIL_ANNOTATION(no_thread_safety_analysis)

namespace fuelrail {

class FUELRAIL_ANNOTATION(capability("mutex")) Mutex {
 public:
  void lock() FUELRAIL_ACQUIRE() { mutex_.lock(); }
  void unlock() FUELRAIL_RELEASE() { mutex_.unlock(); }

 private:
  friend class Condition;
  std::mutex mutex_;
};

// Holds a mutex for a scope.
class FUELRAIL_ANNOTATION(scoped_lockable) Lock {
 public:
  explicit Lock(Mutex& mutex) FUELRAIL_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~Lock() FUELRAIL_RELEASE() { mutex_.unlock(); }
  Lock& operator=(Lock&&) = delete;

 private:
  Mutex& mutex_;
};

// Releases a held mutex for a scope.
class FUELRAIL_ANNOTATION(scoped_lockable) Unlocked {
 public:
  explicit Unlocked(Mutex& mutex) FUELRAIL_RELEASE(mutex) : mutex_(mutex) { mutex_.unlock(); }
  ~Unlocked() FUELRAIL_RELEASE() { mutex_.lock(); }
  Unlocked& operator=(Unlocked&&) = delete;

 private:
  Mutex& mutex_;
};

// A condition variable. The mutex is released during a wait. A wait may end spuriously.
class Condition {
 public:
  void wait(Mutex& mutex) FUELRAIL_REQUIRES(mutex) {
    std::unique_lock<std::mutex> hold(mutex.mutex_, std::adopt_lock);
    condition_.wait(hold);
    hold.release();
  }
  // Returns: false if `until` has passed.
  bool wait_until(Mutex& mutex, std::chrono::steady_clock::time_point until)
      FUELRAIL_REQUIRES(mutex) {
    std::unique_lock<std::mutex> hold(mutex.mutex_, std::adopt_lock);
    const bool in_time = condition_.wait_until(hold, until) == std::cv_status::no_timeout;
    hold.release();
    return in_time;
  }
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

// Marks members that only one thread uses, without a lock: that thread's first function calls
// `begin`, and its other functions require this capability.
class FUELRAIL_ANNOTATION(capability("thread")) OneThread {
 public:
  void begin() const FUELRAIL_ANNOTATION(assert_capability(this)) {}
};

}  // namespace fuelrail
