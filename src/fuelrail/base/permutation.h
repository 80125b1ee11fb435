// A keyed bijection of [0, n), evaluated in O(1) time and memory at any position. No array of n
// integers ever exists.
//
// It is a Feistel network over pairs (left, right) of [0, rows) x [0, columns), the smallest grid
// with an even number of rows, nearly square, that holds n; what falls outside [0, n) walks on
// along its cycle until it is back. Rounds add to each half, in turn, a keyed hash of the other.
//
// Frozen: the grid, the hash, the number of rounds and the key schedule decide every shuffled epoch
// of every user; the test holds golden values.
#pragma once

#include <array>
#include <cstdint>

namespace fuelrail {

// A plain value. Threads: any number at once.
class Permutation {
 public:
  // Requires: 0 < n <= 2^62. Different (seed, stream) give independent permutations; an epoch is a
  // stream. The keys are Philox numbers of `seed` from operation 0xffff, which is kept for this.
  Permutation(uint64_t n, uint64_t seed, uint64_t stream);

  // Requires: i < n. Returns: the image of i, also below n.
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
