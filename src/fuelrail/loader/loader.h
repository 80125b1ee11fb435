// The loader: takes a container and options and returns batches. Connects sampler, engine and image
// workers.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "fuelrail/batch/batch.h"
#include "fuelrail/container/container.h"
#include "fuelrail/engine/engine.h"
#include "fuelrail/engine/worker.h"
#include "fuelrail/loader/options.h"
#include "fuelrail/sampler/state.h"

namespace fuelrail {

// The caller's own way to turn records into columns, instead of ImageOptions.
struct LoaderWork {
  std::vector<ColumnSpec> columns;  // of the batches
  WorkerFactory make_worker;        // for Engine: makes workers that write the columns
  bool whole_records = false;       // whether the workers need all bytes of each record
};

//   Loader loader(open_container("train.rec"),
//                 {.order = OrderOptions{.shuffle = Shuffle::kFull, .batch_size = 256}},
//                 {.transforms = {...}});
//   for (int epoch = 0; epoch < 90; ++epoch)
//     while (auto batch = loader.next()) train(*batch);
//
// Threads: `progress`, `bad_records`, `stats`, `throw_stalled` and `stop` may be called from any
// thread at any time, everything else from one thread at a time. `container` never changes;
// `options` changes only by `reshard`, which sets the shard.
class Loader {
 public:
  // Errors: InvalidArgumentError for an invalid option or combination of options, such as an
  // unknown field.
  Loader(std::shared_ptr<const Container> container, LoaderOptions options,
         ImageOptions images = {});
  // A loader whose columns are written by the caller's own workers. Requires: `work.make_worker` is
  // not empty. Errors: InvalidArgumentError for an invalid option, and for columns that BatchLayout
  // refuses.
  Loader(std::shared_ptr<const Container> container, LoaderOptions options, LoaderWork work);
  ~Loader();

  // Returns the next batch, or empty at the end of an epoch; the call after that begins the next
  // epoch. Errors: those of Engine::next, but OutOfMemoryError with the bytes, number and shape of
  // the batches instead of std::bad_alloc; StallError after LoaderOptions::stall_timeout
  // (`next_for` does not check this limit).
  std::optional<Batch> next();
  Engine::Next next_for(std::chrono::milliseconds timeout);

  // The number of batches in a whole epoch, the same on every rank. Errors: StateError for a fed
  // order, whose length is unknown.
  uint64_t size() const;

  // The number of batches left in the epoch, the same on every rank. It is 0 from the last batch of
  // the epoch until kEndOfEpoch has been returned. Errors: as for `size`.
  uint64_t batches_left() const;

  // The phase of the epoch that the consumer of the batches is in.
  Engine::Phase phase() const;

  // Skips the rest of an epoch from which `next` has returned a batch. Does nothing at the
  // beginning of an epoch and right after `restore`.
  void next_epoch();

  // Makes the first batch of `epoch` the next batch. Prefetched batches are kept if they belong to
  // this epoch, otherwise discarded. Right after `restore` into the same epoch, the restored
  // position is kept instead, because many scripts call `restore` and then `set_epoch`.
  void set_epoch(uint32_t epoch);

  // The epoch and the global position of the next batch.
  Progress progress() const;

  // `state` returns the state to save; `restore` resumes from a saved state. Errors of `restore`:
  // InvalidArgumentError that names the difference between the two runs.
  State state() const;
  void restore(const State& state);

  // Enlarges the slots to batches of `rows` rows if they are smaller, and restarts the order from
  // the next batch, as `restore` does: prefetched batches are discarded. Unlike `restore`, this
  // keeps the number of bad records counted for `max_bad`, and a run that `max_bad` has ended stays
  // ended. Meant for a fed order, whose batches may have any size.
  void reserve(size_t rows);

  // From the next batch on, returns the share of `shard` in every global batch, as if a loader with
  // this shard had restored the state: prefetched batches are discarded. The number of bad records
  // is kept, as in `reserve`. Errors: those of the constructor for this shard, which leave the
  // loader unchanged.
  void reshard(const Shard& shard);

  const LoaderOptions& options() const;
  const Container& container() const;
  const BatchLayout& layout() const;
  // With OnError::kSkip: the records that were skipped in the batches returned so far, each record
  // once, in the order of their first occurrence, from number `since` on.
  std::vector<BadRecord> bad_records(size_t since = 0) const;
  Stats stats() const;
  [[noreturn]] void throw_stalled(double seconds) const;  // as Engine::throw_stalled
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fuelrail
