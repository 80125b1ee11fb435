// An order fed by the caller, batch by batch: this rank's own. (Python's side of it comes with a
// later issue.)
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "fuelrail/sampler/sampler.h"

namespace fuelrail {

class FedSampler final : public Sampler {
 public:
  // `feed` gives the records of the next batch, or empty at the end of the epoch; asked again, it
  // begins the next epoch. An epoch that is empty from its first batch ends the order for good:
  // `feed` is not called again. A feed that always ends its order thus gives a single epoch.
  // Positions count the records fed in the epoch; `start` says where the first batch begins, and
  // `feed` begins there too.
  // Threads: `feed` is called from the thread that calls `next`, one batch ahead.
  // Errors of `next`: OutOfRangeError for a record that is not below `records`, and whatever `feed`
  // throws; the sampler then stays where it was.
  FedSampler(uint64_t records, std::function<std::optional<std::vector<uint64_t>>()> feed,
             Progress start = {});

  std::optional<BatchPlan> next() override;
  Progress progress() const override { return at_; }
  // The records that follow in the same fed batch, around its end.
  std::optional<uint64_t> substitute(const BatchPlan& plan, size_t row,
                                     uint32_t attempt) const override;

 private:
  uint64_t records_;
  std::function<std::optional<std::vector<uint64_t>>()> feed_;
  std::optional<std::vector<uint64_t>> ahead_;  // one batch, to know which is the last
  bool ended_ = false;
  Progress at_;
};

}  // namespace fuelrail
