// Remembers which process an object belongs to. A forked child has a copy of the object but not the
// parent's threads, and a lock that one of them held at the fork stays locked forever.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace fuelrail {

// Threads: any.
class OwnProcess {
 public:
  enum class Since : uint8_t { kNow, kBegin };

  explicit OwnProcess(Since since = Since::kNow) : id_(since == Since::kNow ? ::getpid() : 0) {}

  // From now on the object belongs to this process, unless `begin` was called before.
  void begin() {
    if (!begun()) id_.store(::getpid(), std::memory_order_relaxed);
  }
  bool begun() const { return id_.load(std::memory_order_relaxed) != 0; }

  // Makes this process the owner. Returns: whether it was not the owner before.
  bool take_over() {
    const pid_t id = ::getpid();
    return id_.exchange(id, std::memory_order_relaxed) != id;
  }

  // Whether the object belongs to a different process, of which this one is a forked child.
  bool is_parents() const {
    const pid_t id = id_.load(std::memory_order_relaxed);
    return id != 0 && id != ::getpid();
  }

 private:
  std::atomic<pid_t> id_;
};

}  // namespace fuelrail
