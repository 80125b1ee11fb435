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
  // Errors: InvalidArgumentError for a batch size of 0 or a world size of 0; OutOfRangeError for a
  // rank that is not below the world size, or a start beyond the records.
  explicit EpochSampler(const EpochSamplerOptions& options, Progress start = {});

  std::optional<BatchPlan> next() override;
  Progress progress() const override { return at_; }

  // Batches from `position` to the end of an epoch, the same on every rank.
  uint64_t batches_from(uint64_t position) const;

 private:
  EpochSamplerOptions options_;
  Progress at_;
};

}  // namespace fuelrail
