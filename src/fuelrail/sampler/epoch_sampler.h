// Divides the computed order (epoch_order.h) into global batches, and these into the ranks' shares
// (docs/design.md, rule 1). Start-up time and memory (except the weights) do not depend on the
// number of records.
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
  uint64_t batch_size = 1;  // rows per rank
  Shard shard{};
  LastBatch last_batch = LastBatch::kShort;
  // If set, records are drawn by these weights, with replacement; null: every record occurs once.
  // Cannot be combined with a shuffle.
  std::shared_ptr<const Weights> weights{};
  std::optional<uint64_t> samples{};  // per epoch, with weights; default: `records`

  static const OptionTable<OrderOptions>& table();  // all but shuffle, shard, weights
};

struct EpochSamplerOptions {
  uint64_t records = 0;
  OrderOptions order{};

  // The number of positions in an epoch.
  uint64_t epoch_size() const { return order.samples.value_or(records); }
};

class EpochSampler final : public Sampler {
 public:
  // If no batch follows `start` in its epoch (`start` is the end, or is inside the tail that `drop`
  // skips), the sampler starts at the next epoch. Errors: those of OrderOptions' table and of
  // check(Shuffle); InvalidArgumentError for a world size of 0, more than 2^62 records, samples or
  // rows in a global batch, a number of weights other than the number of records, weights with a
  // shuffle, and samples without weights; OutOfRangeError for a rank that is not below the world
  // size, or a start after the end of the epoch.
  explicit EpochSampler(const EpochSamplerOptions& options, Progress start = {});

  // Returns: empty on every call if an epoch has no batches: no records, or with `drop` fewer than
  // a global batch.
  std::optional<BatchPlan> next() override;
  Progress progress() const override { return at_; }
  // Draws any record with equal probability: hash(seed, epoch, position, attempt) mod records, so
  // that ranks need no communication and have equal numbers of batches (docs/design.md, rule 6).
  // With weights, draws each record with its own probability, so that a record of weight 0 is never
  // a substitute.
  std::optional<uint64_t> substitute(const BatchPlan& plan, size_t row,
                                     uint32_t attempt) const override;

  // The number of batches from `position` to the end of an epoch, the same on every rank. Requires:
  // position <= epoch_size().
  uint64_t batches_from(uint64_t position) const;

 private:
  uint64_t global_batch() const {
    return options_.order.batch_size * options_.order.shard.world_size;
  }
  void begin_epoch(uint32_t epoch);
  Entry entry_at(uint64_t position) const;

  EpochSamplerOptions options_;
  Progress at_;
  std::optional<EpochOrder> order_;  // of the epoch of `at_`; empty if there are no records
};

}  // namespace fuelrail
