// Buffers that are used again, so that memory need not be mapped and cleared for each record.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "fuelrail/base/guarded.h"

namespace fuelrail::pack {

// Threads: any number at once.
class SpareBuffers {
 public:
  // An empty buffer, with the capacity of an earlier one if there is one.
  std::vector<std::byte> take() {
    const Lock lock(mutex_);
    if (spare_.empty()) return {};
    std::vector<std::byte> buffer = std::move(spare_.back());
    spare_.pop_back();
    return buffer;
  }

  // Keeps at most kMost buffers of at most kMostBytes each.
  void give(std::vector<std::byte> buffer) {
    buffer.clear();
    if (buffer.capacity() > kMostBytes) return;
    const Lock lock(mutex_);
    if (spare_.size() < kMost) spare_.push_back(std::move(buffer));
  }

 private:
  static constexpr size_t kMost = 64;
  static constexpr size_t kMostBytes = size_t{1} << 20;

  Mutex mutex_;
  std::vector<std::vector<std::byte>> spare_ FUELRAIL_GUARDED_BY(mutex_);
};

}  // namespace fuelrail::pack
