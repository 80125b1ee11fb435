// A sink that keeps the written bytes, for tests of writers.
#pragma once

#include "fuelrail/storage/memory/memory_sink.h"

namespace fuelrail {

class CollectingSink final : public MemorySink {
 public:
  CollectingSink() : MemorySink("collected") {}
};

}  // namespace fuelrail
