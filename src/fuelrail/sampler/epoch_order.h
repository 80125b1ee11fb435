// The record at each position of one epoch: in order, shuffled, or drawn by weights. A pure
// function of (records, seed, epoch, shuffle or weights) that can be evaluated directly at any
// position.
#pragma once

#include <cstdint>
#include <memory>
#include <variant>

#include "fuelrail/base/permutation.h"
#include "fuelrail/sampler/shuffle.h"
#include "fuelrail/sampler/weights.h"
#include "fuelrail/sampler/window_order.h"

namespace fuelrail {

// A plain value. Threads: any number at once.
class EpochOrder {
 public:
  // Every record occurs once. Requires: 0 < records <= 2^62; a shuffle that `check` accepts.
  EpochOrder(uint64_t records, const Shuffle& shuffle, uint64_t seed, uint32_t epoch);

  // Each position draws its record independently, with draws 4 to 7 of operation 0xfffd (reserved
  // for orders). Requires: weights are not null.
  EpochOrder(std::shared_ptr<const Weights> weights, uint64_t seed, uint32_t epoch);

  // Requires: position < records; with weights, any position.
  uint64_t operator()(uint64_t position) const;

 private:
  struct InOrder {
    uint64_t operator()(uint64_t position) const { return position; }
  };
  struct Drawn {
    std::shared_ptr<const Weights> weights;
    uint64_t seed;
    uint32_t epoch;
    uint64_t operator()(uint64_t position) const;
  };
  using How = std::variant<InOrder, Permutation, WindowOrder, Drawn>;

  static How shuffled(uint64_t records, const Shuffle& shuffle, uint64_t seed, uint32_t epoch);

  How how_;
};

}  // namespace fuelrail
