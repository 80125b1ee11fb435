// An order fed by the caller, batch by batch: this rank's own.
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
  bool ends_epoch = false;  // the last batch of its epoch
};

class FedSampler final : public Sampler {
 public:
  // What an entry's position is, and with it the place of its random numbers.
  enum class Position : uint8_t {
    kCounted,  // of the n-th record (from 0) fed to this rank in the epoch: n * world_size + rank,
               // so that no two ranks draw the same random numbers
    kRecord,   // the record itself: its random numbers do not depend on when it is asked for
  };

  // `feed` gives the next batch; empty when there is nothing more, ever: it is not called again.
  // `start` says where the first batch begins, and `feed` begins there too. Progress counts the
  // records fed to this rank alone.
  // Threads: `feed` is called from the thread that calls `next`.
  // Errors: InvalidArgumentError and OutOfRangeError for a shard that is none.
  // Errors of `next`: OutOfRangeError for a record that is not below `records` (the batch is
  // dropped, and not counted), and whatever `feed` throws; the sampler then stays where it was.
  FedSampler(uint64_t records, std::function<std::optional<FedBatch>()> feed, Progress start = {},
             Position position = Position::kCounted, Shard shard = {});

  std::optional<BatchPlan> next() override;
  Progress progress() const override { return at_; }
  bool plans_far_ahead() const override { return false; }
  // The records that follow in the same fed batch, around its end.
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
