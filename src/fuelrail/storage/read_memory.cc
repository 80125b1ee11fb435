#include "fuelrail/storage/read_memory.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#include "fuelrail/base/guarded.h"
#include "fuelrail/base/size_class.h"
#include "fuelrail/storage/read_queue.h"

namespace fuelrail {
namespace {

class IdleMemory {
 public:
  // Never destroyed, because records may outlive all other objects.
  static IdleMemory& of_process() {
    static IdleMemory* const memory = new IdleMemory;
    return *memory;
  }

  // Returns: null if none is idle.
  std::byte* take(SizeClass wanted) {
    const Lock hold(mutex_);
    Shelf& shelf = shelves_[wanted.index];
    shelf.asked_for = ++asked_;
    if (shelf.idle.empty()) return nullptr;
    std::byte* const data = shelf.idle.back();
    shelf.idle.pop_back();
    idle_bytes_ -= shelf.capacity;
    return data;
  }

  void give_back(std::byte* data, SizeClass of) noexcept {
    if (!keep_idle(data, of)) std::free(data);
  }

  size_t idle_bytes() {
    const Lock hold(mutex_);
    return idle_bytes_;
  }

  void free_all() {
    const Lock hold(mutex_);
    while (Shelf* const shelf = oldest_shelf()) free_one(*shelf);
  }

 private:
  struct Shelf {
    std::vector<std::byte*> idle;
    size_t capacity = 0;
    uint64_t asked_for = 0;  // the number of the last request for this size
  };

  // The fork handlers take the lock, so that no other thread holds it during a fork.
  IdleMemory() {
    const auto unlock = []() FUELRAIL_UNCHECKED { of_process().mutex_.unlock(); };
    ::pthread_atfork([]() FUELRAIL_UNCHECKED { of_process().mutex_.lock(); }, unlock, unlock);
  }

  // Returns: whether the block was kept.
  bool keep_idle(std::byte* data, SizeClass of) noexcept {
    const Lock hold(mutex_);
    if (of.capacity > kMostIdleBytes) return false;  // instead of freeing all others
    Shelf& shelf = shelves_[of.index];
    shelf.capacity = of.capacity;
    while (idle_bytes_ + of.capacity > kMostIdleBytes) {
      Shelf* const oldest = oldest_shelf();
      if (oldest == nullptr || oldest == &shelf) return false;
      free_one(*oldest);
    }
    try {
      shelf.idle.push_back(data);
    } catch (const std::bad_alloc&) {
      return false;
    }
    idle_bytes_ += of.capacity;
    return true;
  }

  Shelf* oldest_shelf() FUELRAIL_REQUIRES(mutex_) {
    Shelf* oldest = nullptr;
    for (Shelf& shelf : shelves_) {
      if (shelf.idle.empty()) continue;
      if (oldest == nullptr || shelf.asked_for < oldest->asked_for) oldest = &shelf;
    }
    return oldest;
  }

  void free_one(Shelf& shelf) FUELRAIL_REQUIRES(mutex_) {
    std::free(shelf.idle.back());
    shelf.idle.pop_back();
    idle_bytes_ -= shelf.capacity;
  }

  Mutex mutex_;
  std::array<Shelf, kSizeClasses> shelves_ FUELRAIL_GUARDED_BY(mutex_);
  size_t idle_bytes_ FUELRAIL_GUARDED_BY(mutex_) = 0;
  uint64_t asked_ FUELRAIL_GUARDED_BY(mutex_) = 0;
};

// Created when the library is loaded, before threads exist: a fork during its creation by another
// thread would block the child forever.
[[maybe_unused]] const IdleMemory& kIdleMemoryMadeAtLoad = IdleMemory::of_process();

}  // namespace

std::shared_ptr<std::byte> read_memory(size_t bytes, bool aligned) {
  if (bytes < kLeastReusedBytes && !aligned) {
    const auto memory = std::make_shared_for_overwrite<std::byte[]>(bytes);
    return {memory, memory.get()};
  }
  const SizeClass wanted = size_class_of(std::max(bytes, kLeastReusedBytes));
  std::byte* data = IdleMemory::of_process().take(wanted);
  if (data == nullptr) {
    data = static_cast<std::byte*>(std::aligned_alloc(kDirectAlignment, wanted.capacity));
    if (data == nullptr) throw std::bad_alloc();
  }
  return {data, [wanted](std::byte* at) { IdleMemory::of_process().give_back(at, wanted); }};
}

size_t idle_read_memory_bytes() { return IdleMemory::of_process().idle_bytes(); }
void free_idle_read_memory() { IdleMemory::of_process().free_all(); }

}  // namespace fuelrail
