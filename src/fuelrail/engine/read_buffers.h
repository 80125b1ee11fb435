// Buffers that hold records from their read until their worker is done. Their memory is limited,
// reused, and not zeroed.
//
// Buffers have capacity classes, four per doubling, so that a buffer can be reused for a record of
// similar size. The buffer released last is taken first, because it is likely still in the CPU
// cache.
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
  // Limits the buffers in use to `limit_bytes` in total and `limit_count` buffers, but always
  // allows `always` buffers of any size, so that large records keep every worker busy. Including
  // idle buffers, the limit is a quarter higher.
  ReadBuffers(size_t limit_bytes, size_t limit_count, size_t always)
      : limit_bytes_(limit_bytes),
        kept_bytes_(limit_bytes + limit_bytes / 4),
        limit_count_(limit_count),
        always_(always) {}

  // Whether a quarter of the limit is free, so that it is time to read many more records.
  bool has_room() const;
  // Whether a record of `bytes` may be read now. Always true if has_room().
  bool admits(size_t bytes) const;

  // Does not check the limit; the caller does (`admits`). Errors: std::bad_alloc.
  ReadBuffer take(size_t bytes);
  // Releases a buffer; does nothing for an empty one.
  void give_back(ReadBuffer buffer);

  // Counts a record that is in memory of its own as a buffer in use.
  void hold(size_t bytes) {
    ++in_use_;
    in_use_bytes_ += bytes;
  }
  void let_go(size_t bytes) {
    --in_use_;
    in_use_bytes_ -= bytes;
  }

  // How many more bytes may be in use.
  size_t room_bytes() const {
    return in_use_bytes_ < limit_bytes_ ? limit_bytes_ - in_use_bytes_ : 0;
  }
  size_t in_use() const { return in_use_; }
  size_t in_use_bytes() const { return in_use_bytes_; }
  size_t idle_bytes() const { return idle_bytes_; }
  size_t allocations() const { return allocations_; }  // since construction

 private:
  void free_idle(size_t bytes_wanted);

  size_t limit_bytes_;  // for buffers in use
  size_t kept_bytes_;   // for buffers in use or idle; idle ones beyond it are freed
  size_t limit_count_;
  size_t always_;
  size_t in_use_ = 0;
  size_t in_use_bytes_ = 0;
  size_t idle_bytes_ = 0;
  size_t allocations_ = 0;
  std::array<std::vector<ReadBuffer>, kSizeClasses> idle_;
};

}  // namespace fuelrail
