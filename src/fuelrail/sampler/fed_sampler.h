// This rank's order, fed batch by batch by the caller.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "fuelrail/sampler/sampler.h"
#include "fuelrail/sampler/shard.h"

namespace fuelrail {

struct FedBatch {
  std::vector<uint64_t> records;
  bool ends_epoch = false;  // this is the last batch of its epoch
};

class FedSampler final : public Sampler {
 public:
  // The position of an entry, which also selects its random numbers.
  enum class Position : uint8_t {
    kCounted,  // n * world_size + rank for the n-th record (from 0) fed to this rank in the epoch,
               // so that no two ranks draw the same random numbers
    kRecord,   // the record's index, so that random numbers do not depend on the order
  };

  // `feed` returns the next batch, or empty at the end; it is not called after that. `start`: the
  // progress before the first batch that `feed` returns. Progress counts only the records fed to
  // this rank. Threads: `feed` is called on the thread that calls `next`. Errors:
  // InvalidArgumentError and OutOfRangeError for an invalid shard. Errors of `next`:
  // OutOfRangeError for a record that is not below `records` (its batch is dropped and not
  // counted), and exceptions of `feed`. Neither changes the progress.
  FedSampler(uint64_t records, std::function<std::optional<FedBatch>()> feed, Progress start = {},
             Position position = Position::kCounted, Shard shard = {});

  std::optional<BatchPlan> next() override;
  Progress progress() const override { return at_; }
  bool plans_far_ahead() const override { return false; }
  // The records that follow in the same fed batch; after its last record, those from its beginning.
  std::optional<uint64_t> substitute(const BatchPlan& plan, size_t row,
                                     uint32_t attempt) const override;

 private:
  uint64_t records_;
  std::function<std::optional<FedBatch>()> feed_;
  bool ended_ = false;
  Progress at_;
  Position position_;
  Shard shard_;
};

}  // namespace fuelrail
