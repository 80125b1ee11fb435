// Sampling with replacement, with probabilities proportional to the weights, by the alias method
// (A. J. Walker, ACM TOMS 3, 1977; table construction by M. D. Vose, IEEE TSE 17, 1991).
//
// The table holds integers and a draw uses integer arithmetic, so that the same weights, seed,
// epoch and position give the same record on every machine. Frozen: positions in saved states refer
// to these orders.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fuelrail/base/philox.h"

namespace fuelrail {

// Immutable. Threads: any number at once. Memory: 16 bytes per record; 24 during construction,
// besides the given weights.
class Weights {
 public:
  // Takes O(number of weights) time. Weights need not sum to 1. They are rounded to multiples of
  // 2^-53 times the largest weight, or for 2^b records to multiples of 2^-(61 - b) times it if that
  // is coarser (2^-41 for a million records). Errors: InvalidArgumentError if a weight is negative,
  // infinite or NaN (the error names the first), and if there are no weights, no weight above 0, or
  // more than 2^40 weights.
  explicit Weights(std::span<const double> weights);

  uint64_t size() const { return threshold_.size(); }

  // Draws a record with the draws `draw` to `draw` + 3. Requires: as for Philox::bits, for each
  // draw.
  uint64_t draw(const Philox& random, uint32_t operation, uint32_t draw) const;

  // CRC-32 of the weights as float64, little-endian.
  uint32_t checksum() const { return checksum_; }

 private:
  std::vector<uint64_t> scaled(std::span<const double> weights);
  void fill();

  uint64_t total_ = 0;  // sum of the scaled weights, the height of each column
  uint32_t checksum_ = 0;
  std::vector<uint64_t> threshold_;  // a draw below it yields the column's record, else its alias
  std::vector<uint64_t> alias_;
};

}  // namespace fuelrail
