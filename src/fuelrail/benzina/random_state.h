// The numbers that Benzina's transforms draw: those of NumPy's legacy RandomState over MT19937.
//
// Source: NumPy's documentation of RandomState ("Legacy random generation"). Frozen: NumPy keeps
// these numbers in all versions.
#pragma once

#include <cstdint>

#include "fuelrail/base/mersenne_twister.h"

namespace fuelrail::benzina {

// Threads: one at a time.
class RandomState {
 public:
  // Same as `numpy.random.RandomState(seed)` with an integer.
  explicit RandomState(uint32_t seed) : generator_(seed) {}
  // Continues from the state that `RandomState.get_state()` returns as its key and position.
  // Requires: state.used <= MersenneTwister::kWords.
  explicit RandomState(const MersenneTwister::State& state) : generator_(state) {}

  const MersenneTwister::State& state() const { return generator_.state(); }

  // Same as `randint(2**32)`.
  uint32_t word() { return generator_.next(); }

  // Same as `random_sample()`: a multiple of 2^-53 in [0, 1), from two words.
  double random_sample() {
    const uint32_t high = word() >> 5;
    const uint32_t low = word() >> 6;
    return (high * 0x1p26 + low) * 0x1p-53;
  }

  // Same as `uniform(low, high)`. `low` may be above `high`.
  double uniform(double low, double high) { return low + (high - low) * random_sample(); }

 private:
  MersenneTwister generator_;
};

}  // namespace fuelrail::benzina
