// What happens to fetched records on a worker thread. The engine calls it and knows nothing more:
// no codec, no framework.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>

#include "fuelrail/base/bytes.h"
#include "fuelrail/batch/batch.h"
#include "fuelrail/sampler/sampler.h"

namespace fuelrail {

// One record to become one row. Lifetime: everything lives until `process` returns.
struct Task {
  Entry entry;
  Bytes framed;  // the bytes of container.extent(entry.record)
  const Batch* batch = nullptr;
  size_t row = 0;
  // Says that the row is not wanted any more: the engine has been stopped or restarted, and waits
  // for the worker. Whoever works long asks now and then, and gives up with any error.
  std::stop_token stop{};
  std::exception_ptr error{};  // out: why the row was not written; null on success
  uint32_t tolerated = 0;      // out: oddities that were passed over
};

// What a row becomes depends on its task alone, not on the other tasks of the span, nor on earlier
// spans, nor on the worker. testing/worker_conformance.h checks it.
// Threads: one worker a thread; it keeps its working memory between calls.
class Worker {
 public:
  virtual ~Worker() = default;
  Worker& operator=(Worker&&) = delete;

  // Writes the rows. Tasks may belong to different batches. Never throws for a bad record: each
  // task gets its error, an exception object of its own. After whatever it throws all the same, it
  // gets the span's tasks again, one at a time, and what it throws then is that task's error.
  virtual void process(std::span<Task> tasks) = 0;
};

// Calls write(Task&) with each; what that throws is this task's error.
template <typename Write>
void write_each(std::span<Task> tasks, Write write) {
  for (Task& task : tasks) {
    try {
      write(task);
    } catch (...) {
      task.error = std::current_exception();
    }
  }
}

// Called once for each worker thread, on that thread.
using WorkerFactory = std::function<std::unique_ptr<Worker>()>;

}  // namespace fuelrail
