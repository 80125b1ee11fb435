// The computed order (epoch_order.h), cut into global batches and then into ranks' shares
// (docs/design.md, rule 1). Start-up is constant in the number of records, and so is memory, but
// for the weights.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "fuelrail/base/option.h"
#include "fuelrail/sampler/epoch_order.h"
#include "fuelrail/sampler/sampler.h"
#include "fuelrail/sampler/shard.h"
#include "fuelrail/sampler/shuffle.h"
#include "fuelrail/sampler/weights.h"

namespace fuelrail {

struct OrderOptions {
  uint64_t seed = 0;
  Shuffle shuffle = Shuffle::kNone;
  uint64_t batch_size = 1;  // rows a rank
  Shard shard{};
  LastBatch last_batch = LastBatch::kShort;
  // Records are drawn by them, with replacement; none: each comes once. They exclude a shuffle.
  std::shared_ptr<const Weights> weights{};
  std::optional<uint64_t> samples{};  // in an epoch, with weights; default: as many as records

  static const OptionTable<OrderOptions>& table();  // of the numbers and `last_batch`
};

struct EpochSamplerOptions {
  uint64_t records = 0;
  OrderOptions order{};

  // Positions in an epoch.
  uint64_t epoch_size() const { return order.samples.value_or(records); }
};

class EpochSampler final : public Sampler {
 public:
  // A start from which its epoch has no further batch (its end, or within the tail that `drop`
  // leaves out) is the beginning of the next epoch.
  // Errors: those of OrderOptions' table; InvalidArgumentError for a world size of 0, more than
  // 2^62 records, samples or rows in a global batch, weights of another number than the records or
  // beside a shuffle, samples without weights, and those of check(Shuffle); OutOfRangeError for a
  // rank that is not below the world size, or a start beyond the epoch.
  explicit EpochSampler(const EpochSamplerOptions& options, Progress start = {});

  // Returns: empty, for ever, when an epoch has no batch: no records, or fewer than a global batch
  // under `drop`.
  std::optional<BatchPlan> next() override;
  Progress progress() const override { return at_; }
  // Any record with equal chances: hash(seed, epoch, position, attempt) mod records, so that ranks
  // agree without a word and batch counts stay equal (docs/design.md, rule 6). With weights, by
  // their chances: a record of weight 0 stands in for none.
  std::optional<uint64_t> substitute(const BatchPlan& plan, size_t row,
                                     uint32_t attempt) const override;

  // Batches from `position` to the end of an epoch, the same on every rank. Requires: position is
  // not beyond the epoch.
  uint64_t batches_from(uint64_t position) const;

 private:
  uint64_t global_batch() const {
    return options_.order.batch_size * options_.order.shard.world_size;
  }
  void begin_epoch(uint32_t epoch);
  Entry entry_at(uint64_t position) const;

  EpochSamplerOptions options_;
  Progress at_;
  std::optional<EpochOrder> order_;  // of the epoch `at_`; empty when there are no records
};

}  // namespace fuelrail
