// The computed order: a pure function of (record count, seed, epoch, shuffle), cut into global
// batches and then into ranks' shares (docs/design.md, rule 1). Memory and start-up are constant in
// the number of records.
#pragma once

#include <cstdint>
#include <optional>

#include "fuelrail/base/permutation.h"
#include "fuelrail/sampler/sampler.h"
#include "fuelrail/sampler/shard.h"

namespace fuelrail {

enum class Shuffle : uint8_t { kNone, kFull };

struct EpochSamplerOptions {
  uint64_t records = 0;
  uint64_t seed = 0;
  Shuffle shuffle = Shuffle::kNone;
  uint64_t batch_size = 1;  // rows a rank
  Shard shard{};
  LastBatch last_batch = LastBatch::kShort;
};

class EpochSampler final : public Sampler {
 public:
  // A start from which its epoch has no further batch (its end, or within the tail that `drop`
  // leaves out) is the beginning of the next epoch.
  // Errors: InvalidArgumentError for a batch size or world size of 0, or more than 2^62 records or
  // rows in a global batch; OutOfRangeError for a rank that is not below the world size, or a start
  // beyond the records.
  explicit EpochSampler(const EpochSamplerOptions& options, Progress start = {});

  // Returns: empty, for ever, when an epoch has no batch: no records, or fewer than a global batch
  // under `drop`.
  std::optional<BatchPlan> next() override;
  Progress progress() const override { return at_; }
  // Any record with equal chances: hash(seed, epoch, position, attempt) mod records, so that ranks
  // agree without a word and batch counts stay equal (docs/design.md, rule 6).
  std::optional<uint64_t> substitute(const BatchPlan& plan, size_t row,
                                     uint32_t attempt) const override;

  // Batches from `position` to the end of an epoch, the same on every rank. Requires: position is
  // not beyond the records.
  uint64_t batches_from(uint64_t position) const;

 private:
  uint64_t global_batch() const { return options_.batch_size * options_.shard.world_size; }
  void begin_epoch(uint32_t epoch);
  Entry entry_at(uint64_t position) const;

  EpochSamplerOptions options_;
  Progress at_;
  std::optional<Permutation> order_;  // of the epoch `at_`; empty when it is not shuffled
};

}  // namespace fuelrail
