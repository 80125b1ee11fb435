// Memory of batches, reused. A slot belongs to whoever holds it; when the last holder lets go it
// returns to the pool.
#pragma once

#include <cstddef>
#include <memory>

#include "fuelrail/batch/arena.h"

namespace fuelrail {

// A block of memory, aligned to 4 KiB, and an arena for what has no size before it is made.
// Lifetime: outlives the pool if somebody holds it.
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

// Threads: any number at once. Slots may be let go on any thread, also after the pool is gone, and
// in a forked child, where they are freed and never returned.
class SlotPool {
 public:
  // `keep` slots at most wait in the pool for reuse; further ones are freed when let go. The first
  // `keep` that are taken are new ones, so that memory is as large as it will be after a few
  // batches, and not when threads first happen to need the last of them.
  SlotPool(size_t slot_bytes, size_t keep);
  ~SlotPool();
  SlotPool& operator=(SlotPool&&) = delete;

  // A slot that waits (the one let go last), else, and at first, a new one. Its content is
  // undefined, its arena empty. Errors: std::bad_alloc.
  std::shared_ptr<Slot> take();

  size_t idle() const;  // slots that wait for reuse
  size_t lent() const;  // slots taken and not yet let go

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace fuelrail
