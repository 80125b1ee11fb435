// Which part of every global batch this process takes, and what becomes of the last, incomplete
// batch.
#pragma once

#include <cstdint>

namespace fuelrail {

struct Shard {
  uint32_t rank = 0;
  uint32_t world_size = 1;
};

// Errors: InvalidArgumentError for a world of size 0; OutOfRangeError for a rank beyond it.
void check(const Shard& shard);

// The last global batch when the records are not a multiple of it (docs/design.md, rule 1).
enum class LastBatch : uint8_t {
  kShort,  // split contiguously and as evenly as it goes, rank by rank; a rank may get no rows
  kDrop,   // left out
  kPad,    // filled with the epoch's last record, marked invalid
  kWrap,   // filled from the epoch's beginning, all valid
};

}  // namespace fuelrail
