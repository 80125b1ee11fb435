// What workers count. The engine adds the counts of all tasks up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace fuelrail {

struct WorkerCounts {
  uint64_t tolerated = 0;  // oddities tolerated in images (decode/decoder.h)
  // Of kinds that the engine does not know (loader/image_counts.h).
  std::array<uint64_t, 9> others{};

  WorkerCounts& operator+=(const WorkerCounts& added) {
    tolerated += added.tolerated;
    for (size_t i = 0; i < others.size(); ++i) others[i] += added.others[i];
    return *this;
  }
  WorkerCounts& operator-=(const WorkerCounts& removed) {
    tolerated -= removed.tolerated;
    for (size_t i = 0; i < others.size(); ++i) others[i] -= removed.others[i];
    return *this;
  }
};

}  // namespace fuelrail
