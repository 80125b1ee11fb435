#include "fuelrail/sampler/shard.h"

#include <fmt/format.h>

#include "fuelrail/base/error.h"

namespace fuelrail {

void check(const Shard& shard) {
  if (shard.world_size == 0) {
    throw InvalidArgumentError("`world_size` is out of range",
                               {.expected = "at least 1", .found = "0"});
  }
  if (shard.rank >= shard.world_size) {
    throw OutOfRangeError("`rank` is out of range",
                          {.expected = fmt::format("a rank below {}", shard.world_size),
                           .found = fmt::to_string(shard.rank)});
  }
}

}  // namespace fuelrail
