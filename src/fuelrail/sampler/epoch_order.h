// Which record stands at each position of one epoch: in order, shuffled, or drawn by weights. A
// pure function of (records, seed, epoch, shuffle or weights), evaluated at any position at once.
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
  // Each record once. Requires: 0 < records <= 2^62; a shuffle that `check` accepts.
  EpochOrder(uint64_t records, const Shuffle& shuffle, uint64_t seed, uint32_t epoch);

  // Each position draws a record of its own accord, with draws 4 to 7 of operation 0xfffd (kept for
  // orders). Requires: weights are not null.
  EpochOrder(std::shared_ptr<const Weights> weights, uint64_t seed, uint32_t epoch);

  // Requires: position is below the records; by weights, any.
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
