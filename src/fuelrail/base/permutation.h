// A keyed bijection of [0, n), evaluated in O(1) time and memory at any position, without an array
// of n integers.
//
// It is a Feistel network over pairs (left, right) in [0, rows) x [0, columns): the smallest nearly
// square grid with an even number of rows that holds n pairs. A result outside [0, n) is mapped
// again until it is inside (cycle walking). Each round adds a keyed hash of one half to the other
// half; the two halves alternate.
//
// Frozen: the grid, the hash, the number of rounds and the key schedule determine every user's
// shuffled epochs. The test has golden values.
#pragma once

#include <array>
#include <cstdint>

namespace fuelrail {

// A plain value. Threads: any number at once.
class Permutation {
 public:
  // Requires: 0 < n <= 2^62. Different pairs (seed, stream) give independent permutations; the
  // epoch is used as the stream. The keys are Philox numbers with `seed` and operation 0xffff,
  // which is reserved for this.
  Permutation(uint64_t n, uint64_t seed, uint64_t stream);

  // Requires: i < n. Returns: the number that i is mapped to, also below n.
  uint64_t operator()(uint64_t i) const;

  uint64_t size() const { return n_; }

 private:
  static constexpr uint32_t kMostRounds = 24;

  uint64_t walk_once(uint64_t i) const;

  uint64_t n_;
  uint64_t rows_;
  uint64_t columns_;
  uint32_t rounds_;
  std::array<uint64_t, kMostRounds> keys_;
};

}  // namespace fuelrail
