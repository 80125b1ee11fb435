// Memory for records between their read and their worker: bounded, reused, never zeroed.
//
// Capacities come in classes, four to a doubling, so that a buffer fits the next record of about
// its size; the buffer let go last is taken first, while it is still in the cache.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "fuelrail/base/size_class.h"

namespace fuelrail {

struct ReadBuffer {
  std::unique_ptr<std::byte[]> data;
  size_t capacity = 0;
};

// Threads: one at a time; the engine calls it under its lock.
class ReadBuffers {
 public:
  // At most `limit_bytes` in at most `limit_count` buffers are in use; but never fewer than
  // `always` buffers, whatever their size, so that large records keep every worker busy.
  // Together with idle ones they hold a quarter more.
  ReadBuffers(size_t limit_bytes, size_t limit_count, size_t always)
      : limit_bytes_(limit_bytes),
        kept_bytes_(limit_bytes + limit_bytes / 4),
        limit_count_(limit_count),
        always_(always) {}

  // Whether a quarter of the bound is free: the moment to read on, many records at once.
  bool has_room() const;
  // Whether a record of `bytes` may be read now. Always, when there is room.
  bool admits(size_t bytes) const;

  // Asks for no admission: that is the caller's to decide. Errors: std::bad_alloc.
  ReadBuffer take(size_t bytes);
  // Nothing happens for an empty buffer.
  void give_back(ReadBuffer buffer);

  size_t in_use() const { return in_use_; }
  size_t in_use_bytes() const { return in_use_bytes_; }
  size_t idle_bytes() const { return idle_bytes_; }
  size_t allocations() const { return allocations_; }  // since the beginning

 private:
  void free_idle(size_t bytes_wanted);

  size_t limit_bytes_;  // in use
  size_t kept_bytes_;   // in use or idle, where that is not more already
  size_t limit_count_;
  size_t always_;
  size_t in_use_ = 0;
  size_t in_use_bytes_ = 0;
  size_t idle_bytes_ = 0;
  size_t allocations_ = 0;
  std::array<std::vector<ReadBuffer>, kSizeClasses> idle_;
};

}  // namespace fuelrail
