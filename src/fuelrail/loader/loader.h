// The top: a container and options in, batches out. Wires sampler, engine and image workers
// together.
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

// What becomes of records, where it is not images as ImageOptions says them.
struct LoaderWork {
  std::vector<ColumnSpec> columns;  // of the batches
  WorkerFactory make_worker;        // of workers that write them; called as Engine says
};

//   Loader loader(open_container("train.rec"),
//                 {.order = OrderOptions{.shuffle = Shuffle::kFull, .batch_size = 256}},
//                 {.transforms = {...}});
//   for (int epoch = 0; epoch < 90; ++epoch)
//     while (auto batch = loader.next()) train(*batch);
//
// Threads: `progress`, `bad_records`, `stats`, `throw_stalled` and `stop` from any, at any time;
// everything else from one thread at a time. `container` never changes; of `options`, only
// `reshard` changes the shard.
class Loader {
 public:
  // Errors: InvalidArgumentError for any bad option or combination (among them: an unknown
  // field).
  Loader(std::shared_ptr<const Container> container, LoaderOptions options,
         ImageOptions images = {});
  // Batches of columns that the caller's own workers write. Requires: `work.make_worker` is not
  // empty. Errors: InvalidArgumentError for any other bad option, and for columns that BatchLayout
  // refuses.
  Loader(std::shared_ptr<const Container> container, LoaderOptions options, LoaderWork work);
  ~Loader();

  // Empty at the end of an epoch; the call after that begins the next one. Errors: Engine::next's;
  // StallError after LoaderOptions::stall_timeout (which a caller of `next_for` watches itself);
  // where that is std::bad_alloc, OutOfMemoryError with the bytes, number and shape of the batches.
  std::optional<Batch> next();
  Engine::Next next_for(std::chrono::milliseconds timeout);

  // Batches of a whole epoch, the same on every rank. Errors: StateError for a fed order, which
  // only its feeder can tell.
  uint64_t size() const;

  // Batches of the epoch that are still to come, the same on every rank: 0 behind the last one,
  // until kEndOfEpoch has come. Errors: as for `size`.
  uint64_t batches_left() const;

  // Where the user stands in the epoch.
  Engine::Phase phase() const;

  // Skips what is left of an epoch of which `next` has handed out a batch; does nothing where there
  // is none such: at an epoch's beginning, and right after `restore`.
  void next_epoch();

  // Makes `epoch` the next one, from its beginning. What was prefetched of another is discarded; of
  // this one, kept. Right after `restore` into this very epoch there is nothing to change: the
  // restored position stays, so that a script may restore and then name the epoch, as many do.
  void set_epoch(uint32_t epoch);

  // The next batch's epoch and global position: where the user stands.
  Progress progress() const;

  // State to save, and going on from a saved one. Errors of restore: InvalidArgumentError that
  // names the difference.
  State state() const;
  void restore(const State& state);

  // Makes room for batches of `rows` rows, if there is less, and makes the order anew from where
  // the user stands, as `restore` does: what was prefetched is discarded. Unlike there, the count
  // for `max_bad` goes on, and a run that it has ended stays ended. For a fed order, whose batches
  // may be of any size.
  void reserve(size_t rows);

  // Takes another share of every global batch from where the user stands, as a restore there by a
  // loader of that share: what was prefetched is discarded, and the bad records stay as `reserve`
  // leaves them. Errors: those of the constructor for such a shard, which leave the loader as it
  // was.
  void reshard(const Shard& shard);

  const LoaderOptions& options() const;
  const Container& container() const;
  const BatchLayout& layout() const;
  // Under `skip`: what was passed over in the batches handed out since the loader was made, a
  // record once, in the order in which they came up first; from number `since` on.
  std::vector<BadRecord> bad_records(size_t since = 0) const;
  Stats stats() const;
  [[noreturn]] void throw_stalled(double seconds) const;  // as Engine's
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fuelrail
