// Schedules: the sampler's plans -> reads -> workers -> batches, in the sampler's order, within
// bounded memory.
//
//   sampler --plan--> fetch thread --records--> N worker threads --rows--> batches in order -->
//   next()
//
// The fetch thread takes a plan, submits the batch's reads and passes each record on as it arrives.
// Workers take records in the order of batches, a few at a time, and write rows; a batch takes its
// slot of memory when its first row is written. `next` hands out batch k only after batch k - 1.
// The engine runs on over the end of an epoch: the next one is being fetched while the user does
// what users do between epochs.
//
// Slow storage: while workers wait for records, more and more reads are in flight at once
// (read_depth.h), of further batches than `prefetch` where that takes it; workers begin none of
// those before its turn. As many files of a folder are looked at at once, by threads of their own
// (look_ahead.h).
//
// Memory: `prefetch` + 2 slots, those of the two batches that the user took last among them, what
// else he holds, and `read_ahead_bytes`.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "fuelrail/base/listener.h"
#include "fuelrail/base/option.h"
#include "fuelrail/batch/batch.h"
#include "fuelrail/container/container.h"
#include "fuelrail/engine/error_policy.h"
#include "fuelrail/engine/stats.h"
#include "fuelrail/engine/worker.h"
#include "fuelrail/sampler/sampler.h"
#include "fuelrail/storage/read_queue.h"

namespace fuelrail {

class Pipeline;

// None of these changes results.
struct EngineOptions {
  std::optional<int> threads{};  // workers; default: default_threads()
  size_t prefetch = 2;           // whole batches ahead of the one that the user works on
  // `threads` to begin with; more while workers wait for reads, up to
  // `max_read_threads` where that is more. So many threads at most read, and as many more look at
  // files where the container does not know how long those are.
  ReadOptions read{};
  int max_read_threads = 256;
  size_t group = 4;  // records that a worker takes at a time, at most
  // Records read and not yet processed, in bytes. Two records a worker are read ahead in any case,
  // and what stands in for a bad record of a batch that is being worked on is not kept waiting.
  size_t read_ahead_bytes = size_t{32} << 20;
  // Called when direct reads are refused, not possible for now, or wanted of what is not held open:
  // once each at most, on one of the engine's threads.
  Warn warn{};
  // Makes what reads, when the engine starts; for tests, which let reads fail. Requires: not empty.
  std::function<std::unique_ptr<ReadQueue>(const ReadOptions&, ReadQueueCalls)> make_queue =
      make_read_queue;

  static const OptionTable<EngineOptions>& table();  // of threads, prefetch and read
};

// Threads: `next` and `restart` from one thread at a time; `progress`, `bad_records`, `stats`,
// `throw_stalled` and `stop` from any, at any time.
// The engine's own threads receive no signals. The sampler is called on one of them.
// Fork: an engine belongs to the process in which `next` was first called. In a forked child
// `stop` and the destructor do nothing, everything else throws StateError.
class Engine {
 public:
  // Starts nothing yet: threads start at the first `next`. `policy` and `options` stand apart: the
  // one changes results. `before`, if given, is an engine of the same container that this one goes
  // on for: what it has passed over and counted so far is this one's too, and its phase. Errors:
  // InvalidArgumentError for bad options. Requires: no other argument is null.
  Engine(std::shared_ptr<const Container> container, std::unique_ptr<Sampler> sampler,
         std::shared_ptr<const BatchLayout> layout, WorkerFactory make_worker,
         const EngineOptions& options, const ErrorPolicy& policy = {},
         const Engine* before = nullptr);

  // Stops and joins every thread; what is in flight is dropped. In a forked child it only lets go:
  // the threads are the parent's, and the memory is not given back.
  ~Engine();
  Engine& operator=(Engine&&) = delete;

  enum class Status : uint8_t { kBatch, kEndOfEpoch, kTimeout };
  struct Next {
    Status status = Status::kTimeout;
    std::optional<Batch> batch{};  // with kBatch
  };

  // Waits at most `timeout`; 0 and less do not wait. After the last batch of an epoch comes
  // kEndOfEpoch once, then the next epoch's batches; when the sampler has nothing more, kEndOfEpoch
  // each time. A batch without rows is a batch.
  // Errors: under `raise`, that of the batch's first bad row in row order, with record and place,
  // in place of that batch; the engine goes on with the batch after it. Under `skip`,
  // TooManyBadRecordsError in place of the batch with which an epoch has more than `max_bad`, and
  // again each time until `restart`: that batch was not handed out. An error of the sampler comes
  // in the place of the batch that it did not give, and the sampler is asked again after that. What
  // is no Error (a lack of memory for a record, an exception of the worker's libraries) becomes
  // one, with its text and the record's place; std::bad_alloc remains where there is no memory for
  // a whole batch. An error of the worker factory, of a thread's start or within one ends the
  // engine: each `next` throws it. StateError after `stop`.
  Next next(std::chrono::milliseconds timeout = std::chrono::hours(24 * 365));

  // Where the user stands in an epoch.
  enum class Phase : uint8_t {
    kBeginning,   // no batch was handed out since the epoch, or `restart`, began
    kInside,      // one was, and more may come
    kEnd,         // its last one was: kEndOfEpoch comes next
    kOver,        // kEndOfEpoch came last: the next epoch's first batch comes next
    kTooManyBad,  // TooManyBadRecordsError comes each time, until `restart`
  };
  Phase phase() const;

  // Makes kBeginning, that of the next epoch, of kEnd and kOver: kEndOfEpoch does not come (again).
  // Changes no other phase. Errors: TooManyBadRecordsError where that has ended the run.
  void begin_epoch();

  // Discards everything in flight and goes on with another sampler. Batches already handed out stay
  // valid. Does not wait for the reads and the groups in progress, `next` does; until they have
  // ended, the sampler before this one may still be at work. Errors: StateError after `stop`; the
  // error that has ended the engine.
  enum class BadCount : uint8_t {
    kAnew,  // for `max_bad`; the phase is kBeginning
    kGoOn,  // the epoch's count stands, and so does the phase
  };
  void restart(std::unique_ptr<Sampler> sampler, BadCount count = BadCount::kAnew);

  // What the user has been handed: the `after` of the last batch that `next` returned, or threw the
  // bad row of; before the first, where the sampler began.
  Progress progress() const;

  // What `skip` has passed over in the batches handed out since the engine (or the first of those
  // before it) was made, a record once,
  // in the order in which they came up first; from number `since` on.
  std::vector<BadRecord> bad_records(size_t since = 0) const;

  Stats stats() const;

  // Throws a StallError, for a caller who has waited so long: what the next batch waits for, with
  // the container's number of the sample, its file and the offset. Changes and reads nothing.
  [[noreturn]] void throw_stalled(double seconds) const;

  // Ends all work and joins the threads; a `next` that waits in another thread throws StateError.
  // Safe to repeat.
  void stop();

 private:
  // The pipeline, in the process that its threads belong to. Errors: StateError in another.
  Pipeline& mine() const;

  std::unique_ptr<Pipeline> pipeline_;
};

}  // namespace fuelrail
