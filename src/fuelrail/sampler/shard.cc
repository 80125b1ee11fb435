#include "fuelrail/sampler/shard.h"

#include <fmt/format.h>

#include "fuelrail/base/error.h"

namespace fuelrail {

void check(const Shard& shard) {
  if (shard.world_size == 0) {
    throw InvalidArgumentError("the world size is 0", {.expected = "at least 1"});
  }
  if (shard.rank >= shard.world_size) {
    throw OutOfRangeError("there is no such rank",
                          {.expected = fmt::format("a rank below {}", shard.world_size),
                           .found = fmt::to_string(shard.rank)});
  }
}

}  // namespace fuelrail
