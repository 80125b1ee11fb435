// The generator MT19937, with a state that can be read and set. CPython's `random` module and
// NumPy's RandomState compute their numbers from its words.
//
// Source: M. Matsumoto and T. Nishimura, "Mersenne Twister" (ACM TOMACS 8, 1998), with the
// initialisation of 2002/1/26. Frozen: a state has the same words in all programs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace fuelrail {

// Threads: one at a time.
class MersenneTwister {
 public:
  static constexpr size_t kWords = 624;

  struct State {
    std::array<uint32_t, kWords> words{};
    size_t used = kWords;  // number of words that were drawn since the words were last replaced
    friend bool operator==(const State&, const State&) = default;
  };

  // The generator's `init_genrand`.
  explicit MersenneTwister(uint32_t seed);
  // The generator's `init_by_array`. Requires: the key is not empty.
  explicit MersenneTwister(std::span<const uint32_t> key);
  // Requires: state.used <= kWords.
  explicit MersenneTwister(const State& state) : state_(state) {}

  uint32_t next();
  const State& state() const { return state_; }

 private:
  void replace_words();

  State state_;
};

}  // namespace fuelrail
