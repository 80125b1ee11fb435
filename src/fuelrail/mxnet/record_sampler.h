// Divides the passes over a part into batches, as MXNet's iterators do. Records of the next pass
// may fill the last batch of an epoch.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "fuelrail/mxnet/record_order.h"
#include "fuelrail/sampler/sampler.h"

namespace fuelrail::mxnet {

struct RecordSamplerOptions {
  uint64_t batch_size = 1;
  // True: the last batch of an epoch is filled from the beginning of the next pass, and the next
  // epoch begins after those records. False: it is filled with its last record, and each epoch is
  // one pass.
  bool round_batch = true;
  // False: an entry's position is its position in the pass. True (for `seed_aug`): it is the number
  // k of SeededDraws, which is the number of rows that were in the batch when the sample's chunk
  // was read, plus the sample's index in the chunk.
  bool chunk_positions = false;
};

// An epoch has the number of the pass in which it begins. A Progress is the number of a pass and a
// position in that pass. Every batch is full; rows after the epoch's last record are not valid.
// Threads: one at a time.
class RecordSampler final : public Sampler {
 public:
  // Errors: InvalidArgumentError for a batch_size of 0 and, with round_batch, for a batch_size
  // above twice the number of records.
  RecordSampler(std::shared_ptr<const RecordOrder> order, const RecordSamplerOptions& options,
                Progress start = {});

  std::optional<BatchPlan> next() override;
  Progress progress() const override { return at_; }
  // Returns nullopt: bad records are errors and have no substitutes.
  std::optional<uint64_t> substitute(const BatchPlan& plan, size_t row,
                                     uint32_t attempt) const override;

 private:
  void add_from_pass(BatchPlan& plan, bool valid);
  uint64_t chunk_position(const RecordPass& pass, uint64_t i, uint64_t row_of_first) const;

  std::shared_ptr<const RecordOrder> order_;
  RecordSamplerOptions options_;
  Progress at_;
};

}  // namespace fuelrail::mxnet
