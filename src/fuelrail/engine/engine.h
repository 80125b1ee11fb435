// Schedules: the sampler's plans -> reads -> workers -> batches, in the sampler's order, within
// bounded memory.
//
//   sampler --plan--> fetch thread --records--> N worker threads --rows--> batches in order -->
//   next()
//
// The fetch thread takes a plan, takes a slot for its batch, submits the batch's reads and passes
// each record on as it arrives. Workers write rows. `next` hands out batch k only after batch k
// - 1. The engine runs on over the end of an epoch: the next one is being fetched while the user
// does what users do between epochs.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "fuelrail/batch/batch.h"
#include "fuelrail/container/container.h"
#include "fuelrail/engine/stats.h"
#include "fuelrail/engine/worker.h"
#include "fuelrail/sampler/sampler.h"

namespace fuelrail {

// None of these changes results.
struct EngineOptions {
  int threads = 0;       // workers; 0 = default_threads()
  size_t prefetch = 2;   // whole batches ahead of the one that the user works on; at least 1
  int read_threads = 4;  // reads at once
  size_t group = 4;      // records that a worker takes at a time
};

// Threads: `next`, `restart` and `progress` from one thread at a time; `stats` and `stop` from any.
class Engine {
 public:
  // Starts nothing yet: threads start at the first `next`. Errors: InvalidArgumentError for bad
  // options.
  Engine(std::shared_ptr<const Container> container, std::unique_ptr<Sampler> sampler,
         std::shared_ptr<const BatchLayout> layout, WorkerFactory make_worker,
         const EngineOptions& options);

  // Stops and joins every thread; what is in flight is dropped. In a forked child it only lets go:
  // the threads are the parent's.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  enum class Status : uint8_t { kBatch, kEndOfEpoch, kTimeout };
  struct Next {
    Status status = Status::kTimeout;
    std::optional<Batch> batch{};  // with kBatch
  };

  // Waits at most `timeout`. After the last batch of an epoch comes kEndOfEpoch once, then the next
  // epoch's batches. Errors: that of the batch's first bad row in row order, with record and place,
  // in place of that batch; the engine goes on with the batch after it. StateError in a forked
  // child, and after `stop`.
  Next next(std::chrono::milliseconds timeout = std::chrono::hours(24 * 365));

  // Discards everything in flight and goes on with another sampler. Batches already handed out stay
  // valid.
  void restart(std::unique_ptr<Sampler> sampler);

  // What the user has been handed: the `after` of the last batch (or error) that `next` returned.
  Progress progress() const;

  Stats stats() const;

  // Ends all work now; a `next` that waits in another thread throws StateError. Safe to repeat.
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fuelrail
