// Reused memory for batches. A slot belongs to its holders; when the last one releases it, it
// returns to the pool.
#pragma once

#include <cstddef>
#include <memory>

#include "fuelrail/batch/arena.h"

namespace fuelrail {

// A block of memory aligned to 4 KiB, and an arena for data whose size is not known in advance.
// Lifetime: until it is released, even if the pool has been destroyed.
class Slot {
 public:
  virtual ~Slot() = default;
  Slot& operator=(Slot&&) = delete;
  virtual std::byte* data() = 0;
  virtual size_t size_bytes() const = 0;
  Arena& arena() { return arena_; }

 private:
  Arena arena_;
};

// Threads: any number at once. Slots may be released on any thread, even after the pool is
// destroyed. In a forked child they are freed instead of returned to the pool.
class SlotPool {
 public:
  // At most `keep` idle slots wait in the pool for reuse; further ones are freed when released. The
  // first `keep` calls of `take` create new slots, so that memory reaches its final size within a
  // few batches, and not only when all slots happen to be needed at once.
  SlotPool(size_t slot_bytes, size_t keep);
  ~SlotPool();
  SlotPool& operator=(SlotPool&&) = delete;

  // The idle slot released last, or a new one if none is idle (and for the first `keep` calls). Its
  // content is undefined; its arena is empty. Errors: std::bad_alloc.
  std::shared_ptr<Slot> take();

  size_t idle() const;  // slots waiting for reuse
  size_t lent() const;  // slots taken and not yet released

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace fuelrail
