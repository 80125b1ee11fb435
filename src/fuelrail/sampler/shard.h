// This process's share of every global batch, and the policy for the last, incomplete batch.
#pragma once

#include <cstdint>

namespace fuelrail {

struct Shard {
  uint32_t rank = 0;
  uint32_t world_size = 1;
};

// Errors: InvalidArgumentError for a world size of 0; OutOfRangeError for a rank that is not below
// the world size.
void check(const Shard& shard);

// How to handle the last global batch if it is incomplete (docs/design.md, rule 1).
enum class LastBatch : uint8_t {
  kShort,  // split contiguously and as evenly as possible, rank by rank; a rank may get no rows
  kDrop,   // skipped
  kPad,    // filled with the epoch's last record, marked invalid
  kWrap,   // filled from the epoch's beginning, all valid
};

}  // namespace fuelrail
