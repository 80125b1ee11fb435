// Which records make up each batch, in which order, for this rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace fuelrail {

// One row of a batch.
struct Entry {
  uint64_t record = 0;    // index in the container
  uint64_t position = 0;  // in the epoch's global order; counts on past its end for filler rows
  uint32_t epoch = 0;
  bool valid = true;  // false for the filler rows of `pad`
  // Of the record that the order names here, `record` is the so-manieth substitute; 0: that record.
  uint32_t substitute = 0;
};

// How far the whole job (all ranks) has come: the epoch, and the global position where its next
// batch begins.
struct Progress {
  uint32_t epoch = 0;
  uint64_t position = 0;
  friend bool operator==(const Progress&, const Progress&) = default;
};

struct BatchPlan {
  std::vector<Entry> entries;  // this rank's rows; may be empty under `short`
  uint32_t epoch = 0;
  bool ends_epoch = false;  // the last batch of its epoch
  Progress after;           // once this batch has been handed to the user
};

// A sampler runs on from epoch to epoch. Threads: one at a time.
class Sampler {
 public:
  virtual ~Sampler() = default;

  // Empty when there is nothing more to come, ever (a fed order that has ended; an epoch without
  // batches). Errors: as the implementation says; the sampler then stays where it was, and can be
  // asked again.
  virtual std::optional<BatchPlan> next() = 0;

  // Where `next` goes on.
  virtual Progress progress() const = 0;

  // Whether more batches may be asked for than the engine prefetches, so that slow storage has more
  // to read: not where somebody feeds just as many as are to be handed out.
  virtual bool plans_far_ahead() const { return true; }

  // The record to take in place of one that cannot be used: the `attempt`-th (1, 2, ...) for row
  // `row` of a plan that this sampler gave. A pure function of the order and the row's position.
  // Empty: there is none, nor will a later attempt have one. Requires: attempt <= kMaxSubstitutes.
  static constexpr uint32_t kMaxSubstitutes = 1000;
  virtual std::optional<uint64_t> substitute(const BatchPlan& plan, size_t row,
                                             uint32_t attempt) const = 0;

 protected:
  Sampler() = default;
  Sampler(const Sampler&) = default;
  Sampler& operator=(const Sampler&) = default;
};

}  // namespace fuelrail
