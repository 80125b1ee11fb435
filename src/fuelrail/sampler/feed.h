// Where an order that is fed waits between the thread that makes it (the one that asks the loader
// for batches) and the engine's, which plans by it.
#pragma once

#include <deque>
#include <optional>

#include "fuelrail/base/guarded.h"
#include "fuelrail/sampler/fed_sampler.h"

namespace fuelrail {

// Unbounded. The engine's thread that plans passes reads on, too: whoever asks the engine for a
// batch has pushed `prefetch` + 1 of them beyond those handed out, or called `end`; else the engine
// waits for him, and he for it. Threads: any.
class Feed {
 public:
  void push(FedBatch batch);

  // Nothing more will come: once what waits has been taken, `pop` returns empty. Nothing is pushed
  // after it.
  void end();

  // The next batch; waits for it. Errors: StateError after `close`.
  std::optional<FedBatch> pop();

  // Ends a `pop` that waits, and each one after it. Safe to repeat.
  void close();

 private:
  Mutex mutex_;
  Condition changed_;
  std::deque<FedBatch> waiting_ FUELRAIL_GUARDED_BY(mutex_);
  bool ended_ FUELRAIL_GUARDED_BY(mutex_) = false;
  bool closed_ FUELRAIL_GUARDED_BY(mutex_) = false;
};

}  // namespace fuelrail
