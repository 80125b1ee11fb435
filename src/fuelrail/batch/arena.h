// Memory for what has no size before it is made: the rows of ragged columns.
#pragma once

#include <cstddef>
#include <vector>

#include "fuelrail/base/guarded.h"

namespace fuelrail {

// Hands out pieces and takes all of them back at once; keeps the memory, so that the next batch
// touches no fresh pages. It grows to what the largest batch has needed.
// Lifetime: pieces live until `clear` or the arena's end. Threads: any number at once.
class Arena {
 public:
  ~Arena();
  Arena& operator=(Arena&&) = delete;

  // Returns: `bytes` bytes, undefined, at a multiple of 64; never null. Errors: std::bad_alloc.
  std::byte* allocate(size_t bytes);

  // Takes all pieces back. Requires: nobody uses one.
  void clear();

  size_t capacity_bytes() const;

 private:
  struct Block {
    std::byte* data = nullptr;
    size_t size = 0;
    size_t used = 0;
  };

  mutable Mutex mutex_;
  std::vector<Block> blocks_ FUELRAIL_GUARDED_BY(mutex_);
};

}  // namespace fuelrail
