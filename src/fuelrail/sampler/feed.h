// A queue of fed batches between the thread that produces the order (the one that asks the loader
// for batches) and the engine's thread that plans.
#pragma once

#include <deque>
#include <optional>

#include "fuelrail/base/guarded.h"
#include "fuelrail/sampler/fed_sampler.h"

namespace fuelrail {

// Its length is unlimited. While `pop` waits, the engine's planning thread does not pass on reads.
// So before the caller asks the engine for a batch, it must have pushed `prefetch` + 1 batches more
// than were handed out, or called `end`; otherwise the two threads wait for each other forever.
// Threads: any.
class Feed {
 public:
  void push(FedBatch batch);

  // Marks the end: after the queued batches, `pop` returns empty. Requires: no `push` follows.
  void end();

  // Waits for the next batch. Errors: StateError after `close`.
  std::optional<FedBatch> pop();

  // Makes a waiting `pop`, and every later one, throw StateError. May be repeated.
  void close();

 private:
  Mutex mutex_;
  Condition changed_;
  std::deque<FedBatch> waiting_ FUELRAIL_GUARDED_BY(mutex_);
  bool ended_ FUELRAIL_GUARDED_BY(mutex_) = false;
  bool closed_ FUELRAIL_GUARDED_BY(mutex_) = false;
};

}  // namespace fuelrail
