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
  WorkerFactory make_worker;        // makes workers that write the columns; called as by Engine
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
  // the batches instead of std::bad_alloc; StallError after LoaderOptions::stall_timeout (a caller
  // of `next_for` has to check this itself).
  std::optional<Batch> next();
  Engine::Next next_for(std::chrono::milliseconds timeout);

  // The number of batches in a whole epoch, the same on every rank. Errors: StateError for a fed
  // order, whose length is unknown.
  uint64_t size() const;

  // The number of batches left in the epoch, the same on every rank: 0 after the last batch, until
  // kEndOfEpoch has been returned. Errors: as for `size`.
  uint64_t batches_left() const;

  // Where the consumer of the batches is in the epoch.
  Engine::Phase phase() const;

  // Skips the rest of an epoch from which `next` has returned a batch. Does nothing at the
  // beginning of an epoch and right after `restore`.
  void next_epoch();

  // Makes `epoch` the next one, from its beginning. Prefetched batches of this epoch are kept,
  // those of another are discarded. Right after `restore` into the same epoch, this keeps the
  // restored position, so that a script may call `restore` and then `set_epoch`, as many do.
  void set_epoch(uint32_t epoch);

  // The epoch and the global position of the next batch.
  Progress progress() const;

  // The state to save, and resuming from a saved state. Errors of `restore`: InvalidArgumentError
  // that names the difference between the two runs.
  State state() const;
  void restore(const State& state);

  // Enlarges the slots to batches of `rows` rows if they are smaller, and restarts the order from
  // the next batch, as `restore` does: prefetched batches are discarded. Unlike `restore`, this
  // keeps the count for `max_bad`, and a run that `max_bad` has ended stays ended. For a fed order,
  // whose batches may have any size.
  void reserve(size_t rows);

  // Takes another share of every global batch, from the next batch on, as if a loader of that share
  // had restored the state: prefetched batches are discarded. Bad records are kept as by `reserve`.
  // Errors: those of the constructor for this shard; the loader is then unchanged.
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
