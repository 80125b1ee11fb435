// Sampling with replacement, each record as often as its weight says: the alias method (A. J.
// Walker, ACM TOMS 3, 1977), its table built as M. D. Vose showed (IEEE TSE 17, 1991).
//
// The table is made of integers and a draw is integer arithmetic, so that the same weights, seed,
// epoch and position name the same record on every machine. Frozen: saved states name positions in
// orders that are made so.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fuelrail/base/philox.h"

namespace fuelrail {

// Immutable. Threads: any number at once. Memory: 16 bytes a record; 24 while it is made, besides
// the weights that it is made of.
class Weights {
 public:
  // In O(number of weights). They need not sum to 1. A weight counts as a multiple of the largest
  // one times 2^-53, or of 2^-(61 - b) for 2^b records where that is coarser (2^-41 for a million):
  // less than half of that counts as 0.
  // Errors: InvalidArgumentError that names the first weight that is negative, infinite or no
  // number; for no weights, for none above 0, and for more than 2^40.
  explicit Weights(std::span<const double> weights);

  uint64_t size() const { return threshold_.size(); }

  // A record, by draws `draw` to `draw` + 3. Requires: as Philox::bits, of each.
  uint64_t draw(const Philox& random, uint32_t operation, uint32_t draw) const;

  // CRC-32 of the weights as float64, little-endian.
  uint32_t checksum() const { return checksum_; }

 private:
  std::vector<uint64_t> scaled(std::span<const double> weights);
  void fill();

  uint64_t total_ = 0;  // of the scaled weights: what each of the table's columns holds
  uint32_t checksum_ = 0;
  std::vector<uint64_t> threshold_;  // below it a column is its own record, else its alias
  std::vector<uint64_t> alias_;
};

}  // namespace fuelrail
