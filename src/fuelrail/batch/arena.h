// Memory for data whose size is not known in advance: the rows of ragged columns.
#pragma once

#include <cstddef>
#include <vector>

#include "fuelrail/base/guarded.h"

namespace fuelrail {

// Allocates pieces and releases all of them at once. Keeps the memory, so that the next batch uses
// pages that are already mapped; grows to the size of the largest batch. Lifetime: pieces live
// until `clear` or the arena's destruction. Threads: any number at once.
class Arena {
 public:
  ~Arena();
  Arena& operator=(Arena&&) = delete;

  // Returns: `bytes` uninitialized bytes, aligned to 64; never null. Errors: std::bad_alloc.
  std::byte* allocate(size_t bytes);

  // Releases all pieces. Requires: no piece is in use.
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
