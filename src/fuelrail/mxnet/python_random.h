// The random numbers of CPython's `random` module, to reproduce the shuffles of Python programs.
//
// Source: M. Matsumoto and T. Nishimura's MT19937 with its initialisation by an array (2002/1/26),
// and CPython's documented use of it (Lib/random.py, Modules/_randommodule.c). Frozen: CPython
// keeps these numbers in all versions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

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
  static constexpr size_t kWords = 624;

  void seed_by_number(uint32_t seed);
  void seed_by_array(const std::vector<uint32_t>& key);
  void twist();
  uint32_t next();

  std::array<uint32_t, kWords> state_{};
  size_t used_ = kWords;
};

}  // namespace fuelrail::mxnet
