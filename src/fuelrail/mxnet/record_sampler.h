// The batches of MXNet's iterators: passes over a part, cut into rows, with the next pass lending
// what the last batch lacks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "fuelrail/mxnet/record_order.h"
#include "fuelrail/sampler/sampler.h"

namespace fuelrail::mxnet {

struct RecordSamplerOptions {
  uint64_t batch_size = 1;
  // The last batch of an epoch is filled from the beginning of the next pass, and the next epoch
  // goes on behind what was borrowed; else it is filled with its last record, and epochs are
  // passes.
  bool round_batch = true;
  // What an entry's position is: its place in the pass; or, for `seed_aug`, MXNet's number of the
  // sample: rows already in the batch when its chunk was read, plus its place in the chunk.
  bool chunk_positions = false;
};

// Epochs are numbered by the pass that they begin in; a progress is (pass, place in it). Every
// batch is full; rows behind the epoch's last record are not valid. Threads: one.
class RecordSampler final : public Sampler {
 public:
  // Errors: InvalidArgumentError for a batch_size of 0, and for one that with round_batch would
  // borrow more than a whole pass.
  RecordSampler(std::shared_ptr<const RecordOrder> order, const RecordSamplerOptions& options,
                Progress start = {});

  std::optional<BatchPlan> next() override;
  Progress progress() const override { return at_; }
  // None: a record that cannot be used is an error.
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
