// A sink that keeps what is written, for tests of writers.
#pragma once

#include "fuelrail/storage/memory/memory_sink.h"

namespace fuelrail {

class CollectingSink final : public MemorySink {
 public:
  CollectingSink() : MemorySink("collected") {}
};

}  // namespace fuelrail
