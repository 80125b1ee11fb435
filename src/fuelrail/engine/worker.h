// Processes fetched records on a worker thread. The engine knows only this interface, no codec and
// no framework.
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
#include "fuelrail/engine/worker_counts.h"
#include "fuelrail/sampler/sampler.h"

namespace fuelrail {

// One record that becomes one row. Lifetime: all members live until `process` returns.
struct Task {
  Entry entry;
  Bytes framed;  // the bytes of container.extent(entry.record)
  const Batch* batch = nullptr;
  size_t row = 0;
  // Stop is requested when the row is no longer needed: the engine was stopped or restarted, and
  // waits for the worker. Long-running work should check it regularly and, if stop is requested,
  // throw any error.
  std::stop_token stop{};
  std::exception_ptr error{};  // out: the error if the row was not written; null on success
  WorkerCounts counts{};       // out
};

// A row's content depends only on its task, not on other tasks of the span, earlier spans or the
// worker (checked by testing/worker_conformance.h). Threads: one worker per thread; it keeps its
// working memory between calls.
class Worker {
 public:
  virtual ~Worker() = default;
  Worker& operator=(Worker&&) = delete;

  // Writes the rows. Tasks may belong to different batches. Should not throw for a bad record, but
  // set the task's error, to an exception object that no other task shares. If it throws anyway, it
  // is called again with each task of the span alone, and what it throws then is that task's error.
  virtual void process(std::span<Task> tasks) = 0;
};

// Calls write(Task&) for each task; an exception becomes the task's error.
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
