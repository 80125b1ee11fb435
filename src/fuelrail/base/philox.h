// Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random
// numbers: as easy as 1, 2, 3", SC'11). Each number is a pure function of (seed, epoch, position,
// operation, draw), without state.
//
// Frozen layout: a change would change every user's augmented epochs.
//   key     = (low 32 bits of seed, high 32 bits of seed)
//   counter = (low 32 bits of position, high 32 bits of position,
//              epoch, operation << 16 | draw >> 2)
//   number  = word (draw & 3) of the block
// Operations and their users:
//   256 j + i         transform i in the list of image field j; j is called the leader. A sample's
//                     image fields are numbered from 0 in the schema's order; j is 0 for images
//                     that are not part of a sample (packing, MXNet's augmenters).
//   2^15 and above    transforms of whole batches, except the following operations
//   0xfffd            orders of records: window shuffles and weights (sampler/)
//   0xfffe            substitutes of bad records (sampler/)
//   0xffff            keys of permutations (base/permutation.h), interpolation (pack/)
#pragma once

#include <array>
#include <cstdint>

namespace fuelrail {

inline constexpr uint32_t kOperationsPerLeader = 256;  // the largest number of transforms in a list
inline constexpr uint32_t kMaxLeaders = 127;           // so that their operations are below 2^15

using PhiloxBlock = std::array<uint32_t, 4>;

// The paper's function with 10 rounds.
PhiloxBlock philox4x32_10(PhiloxBlock counter, std::array<uint32_t, 2> key);

// The random numbers of one sample in one epoch. A plain value: copies are cheap. Threads: any.
class Philox {
 public:
  Philox(uint64_t seed, uint32_t epoch, uint64_t position)
      : seed_(seed), position_(position), epoch_(epoch) {}

  // Requires: operation < 2^16, draw < 2^18. `operation`: the caller's number in the list above;
  // `draw`: the index of the number within the operation.
  uint32_t bits(uint32_t operation, uint32_t draw) const;

  // In [0, 1), with 32 bits of resolution: bits * 2^-32, exact as a double.
  double uniform(uint32_t operation, uint32_t draw) const {
    return bits(operation, draw) * 0x1p-32;
  }

  // In [0, bound): the high word of bits * bound (Lemire's method without rejection; bias below
  // bound * 2^-32). Requires: 0 < bound <= 2^32.
  uint64_t below(uint32_t operation, uint32_t draw, uint64_t bound) const {
    return (bits(operation, draw) * bound) >> 32;
  }

  // As `below`, for any bound, and from the two draws `draw` and `draw` + 1 (bias below bound *
  // 2^-64). Requires: bound > 0, draw + 1 < 2^18.
  uint64_t below64(uint32_t operation, uint32_t draw, uint64_t bound) const;

 private:
  uint64_t seed_;
  uint64_t position_;
  uint32_t epoch_;
};

}  // namespace fuelrail
