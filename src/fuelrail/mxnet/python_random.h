// The random numbers of CPython's `random` module, to reproduce the shuffles of Python programs.
//
// Source: CPython's use of MT19937 (Lib/random.py, Modules/_randommodule.c). Frozen: CPython keeps
// these numbers in all versions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "fuelrail/base/mersenne_twister.h"

namespace fuelrail::mxnet {

// Threads: one at a time.
class PythonRandom {
 public:
  // Same as `random.seed(seed)`.
  explicit PythonRandom(uint64_t seed);

  // Same as `random.getrandbits(bits)`. Requires: 1 <= bits <= 64.
  uint64_t bits(int bits);

  // Same as `random.randrange(n)`. Requires: n > 0.
  uint64_t below(uint64_t n);

  // Same as `random.shuffle(items)`.
  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i) {
      using std::swap;
      swap(items[i - 1], items[static_cast<size_t>(below(i))]);
    }
  }

 private:
  MersenneTwister generator_;
};

}  // namespace fuelrail::mxnet
