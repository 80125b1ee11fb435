// Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random
// numbers: as easy as 1, 2, 3", SC'11). A number is a pure function of (seed, epoch, position,
// operation, draw): no state, nothing shared.
//
// Frozen layout. Changing it changes every augmented epoch of every user:
//   key     = (low 32 bits of seed, high 32 bits of seed)
//   counter = (low 32 bits of position, high 32 bits of position,
//              epoch, operation << 16 | draw >> 2)
//   number  = word (draw & 3) of the block
// Operations, and what draws with them:
//   256 j + i         transform i of the list of leader j: the image fields of a sample are its
//                     leaders, numbered from 0 in the schema's order. In an image of its own (an
//                     image that is packed, MXNet's augmenters) j is 0.
//   2^15 and above    whole batches, but for those that follow
//   0xfffd            orders of records: shuffle windows and weights (sampler/)
//   0xfffe            substitutes of bad records (sampler/)
//   0xffff            keys of permutations (base/permutation.h), interpolation (pack/)
#pragma once

#include <array>
#include <cstdint>

namespace fuelrail {

inline constexpr uint32_t kOperationsPerLeader = 256;  // as many transforms may be in a list
inline constexpr uint32_t kMaxLeaders = 127;           // all below 2^15

using PhiloxBlock = std::array<uint32_t, 4>;

// The bare function, as in the paper: 10 rounds.
PhiloxBlock philox4x32_10(PhiloxBlock counter, std::array<uint32_t, 2> key);

// The random numbers of one sample in one epoch. A plain value; copy it freely, use it from any
// thread.
class Philox {
 public:
  Philox(uint64_t seed, uint32_t epoch, uint64_t position)
      : seed_(seed), position_(position), epoch_(epoch) {}

  // Requires: operation < 2^16, draw < 2^18. `operation` is the consumer's, as above; `draw` counts
  // the numbers that it takes.
  uint32_t bits(uint32_t operation, uint32_t draw) const;

  // In [0, 1), 32 bits of resolution: bits * 2^-32, exact in double.
  double uniform(uint32_t operation, uint32_t draw) const {
    return bits(operation, draw) * 0x1p-32;
  }

  // In [0, bound): the high word of bits * bound (Lemire, without the rejection step: bias below
  // bound * 2^-32). Requires: 0 < bound <= 2^32.
  uint64_t below(uint32_t operation, uint32_t draw, uint64_t bound) const {
    return (bits(operation, draw) * bound) >> 32;
  }

  // The same for any bound, of the draws `draw` and `draw` + 1 (bias below bound * 2^-64).
  // Requires: bound > 0, draw + 1 < 2^18.
  uint64_t below64(uint32_t operation, uint32_t draw, uint64_t bound) const;

 private:
  uint64_t seed_;
  uint64_t position_;
  uint32_t epoch_;
};

}  // namespace fuelrail
