// Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random
// numbers: as easy as 1, 2, 3", SC'11). A number is a pure function of (seed, epoch, position,
// operation, draw): no state, nothing shared.
//
// Frozen layout. Changing it changes every augmented epoch of every user:
//   key     = (low 32 bits of seed, high 32 bits of seed)
//   counter = (low 32 bits of position, high 32 bits of position,
//              epoch, operation << 16 | draw >> 2)
//   number  = word (draw & 3) of the block
#pragma once

#include <array>
#include <cstdint>

namespace fuelrail {

using PhiloxBlock = std::array<uint32_t, 4>;

// The bare function, as in the paper: 10 rounds.
PhiloxBlock philox4x32_10(PhiloxBlock counter, std::array<uint32_t, 2> key);

// The random numbers of one sample in one epoch. A plain value; copy it freely, use it from any
// thread.
class Philox {
 public:
  Philox(uint64_t seed, uint32_t epoch, uint64_t position)
      : seed_(seed), position_(position), epoch_(epoch) {}

  // Requires: operation < 2^16, draw < 2^18. `operation` is the index of the consumer (a
  // transform's place in the list), `draw` counts the numbers that it takes.
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
