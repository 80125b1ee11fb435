// Makes records in worker processes.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "fuelrail/base/listener.h"
#include "fuelrail/base/per_process.h"
#include "fuelrail/container/made/record_maker.h"
#include "fuelrail/container/made/worker_process.h"

namespace fuelrail::made {

struct PoolOptions {
  WorkerProgram program;
  std::vector<std::byte> greeting;  // for each worker; it must not be empty
  size_t workers = 2;               // at least 1
  Warn warn{};                      // of a worker that has ended unexpectedly
};

// A process starts when a record is wanted and all others are busy. Records lie in memory that the
// worker shares (shared_memory.h), one slot each; a slot is reused after its source is released.
// Small records are copied, and all others while there are no more slots.
//
// A worker and the processes that it starts are a process group, which is killed when the worker
// ends.
//
// If a worker's process ends while it makes a record, the record is made once more, in a new
// process; if that ends too, `make` throws a StateError that says how it ended. If `keep_going`
// returns false, a worker that does not finish its record within 0.3 s is killed.
//
// Fork: a child of the process starts workers of its own, and leaves its parent's alone. If the
// process ends, even by SIGKILL, so do its workers.
class WorkerPool final : public RecordMaker {
 public:
  explicit WorkerPool(PoolOptions options);
  // Ends the processes. Sources may live longer.
  ~WorkerPool() override;

  std::shared_ptr<const Source> make(uint64_t i, const KeepGoing& keep_going) const override;
  size_t at_once() const override { return options_->workers; }

 private:
  class Workers;  // of one process

  const std::shared_ptr<const PoolOptions> options_;
  const PerProcess<Workers> workers_;
};

}  // namespace fuelrail::made
