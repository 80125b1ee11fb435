// Decides which records are in each of this rank's batches, and in which order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace fuelrail {

// One row of a batch.
struct Entry {
  uint64_t record = 0;    // index in the container
  uint64_t position = 0;  // in the epoch's global order; filler rows continue after its end
  uint32_t epoch = 0;
  bool valid = true;  // false for the filler rows of `pad`
  // 0: `record` is the order's record for this position; n: it is the n-th substitute for that
  // record.
  uint32_t substitute = 0;
};

// The progress of the whole job (all ranks): the epoch, and the global position where its next
// batch begins.
struct Progress {
  uint32_t epoch = 0;
  uint64_t position = 0;
  friend bool operator==(const Progress&, const Progress&) = default;
};

struct BatchPlan {
  std::vector<Entry> entries;  // this rank's rows; may be empty with `short`
  uint32_t epoch = 0;
  bool ends_epoch = false;  // this is the last batch of its epoch
  Progress after;           // the progress after this batch was handed to the user
};

// A sampler continues from epoch to epoch. Threads: one at a time.
class Sampler {
 public:
  virtual ~Sampler() = default;

  // Returns: empty if no batch will follow (a fed order has ended, or epochs have no batches).
  // Errors: see the implementations; the progress is then unchanged, and `next` may be called
  // again.
  virtual std::optional<BatchPlan> next() = 0;

  // The progress where the batch of the following `next` begins.
  virtual Progress progress() const = 0;

  // Whether the engine may plan more batches than it prefetches, to have more reads in flight for
  // slow storage. False if the caller feeds only as many batches as are prefetched.
  virtual bool plans_far_ahead() const { return true; }

  // The substitute for a bad record: the `attempt`-th (1, 2, ...) for row `row` of a plan that this
  // sampler returned. A pure function of the order and the row's position. Returns: empty if there
  // is no substitute; later attempts then return empty, too. Requires: attempt <= kMaxSubstitutes.
  static constexpr uint32_t kMaxSubstitutes = 1000;
  virtual std::optional<uint64_t> substitute(const BatchPlan& plan, size_t row,
                                             uint32_t attempt) const = 0;

 protected:
  Sampler() = default;
  Sampler(const Sampler&) = default;
  Sampler& operator=(const Sampler&) = default;
};

}  // namespace fuelrail
