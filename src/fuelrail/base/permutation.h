// A keyed bijection of [0, n), evaluated in O(1) time and memory at any position: a Feistel network
// over the smallest even number of bits that holds n, with cycle walking back into the domain. No
// array of n integers ever exists.
//
// Frozen: the round function, the number of rounds and the key schedule decide every shuffled epoch
// of every user; the test holds golden values.
#pragma once

#include <cstdint>

namespace fuelrail {

class Permutation {
 public:
  // Requires: 0 < n <= 2^62. Different (seed, stream) give independent permutations; an epoch is a
  // stream.
  Permutation(uint64_t n, uint64_t seed, uint64_t stream);

  // Requires: i < n. Returns: the image of i, also below n.
  uint64_t operator()(uint64_t i) const;

  uint64_t size() const { return n_; }

 private:
  // Private parts are the implementer's.
  uint64_t n_;
};

}  // namespace fuelrail
