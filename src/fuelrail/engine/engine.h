// The scheduler: the sampler's plans -> reads -> workers -> batches, in the sampler's order, within
// bounded memory.
//
//   sampler --plan--> fetch thread --records--> N worker threads --rows--> batches in order -->
//   next()
//
// The fetch thread takes a plan, submits the batch's reads and passes each record on when it
// arrives. While records of 16 KB to 1 MB are in the page cache, their workers read them
// (worker_reads.h). Workers take records in the order of batches, a few at a time, and write rows;
// a batch takes its memory slot when its first row is written. `next` returns batches in order. The
// engine does not stop at the end of an epoch: it fetches the next one while the user works between
// epochs.
//
// Slow storage: while workers wait for records, the number of reads in flight grows (read_depth.h).
// It may then include reads for batches beyond the `prefetch` ones; workers do not start those
// batches early. For folders, separate threads look up file sizes, as many at a time as there may
// be reads in flight (look_ahead.h).
//
// Memory: `prefetch` + 2 slots, including those of the last two batches that the user took; all
// other batches that the user holds; and `read_ahead_bytes`.
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

// None of these options changes results.
struct EngineOptions {
  std::optional<int> threads{};  // workers; default: default_threads()
  size_t prefetch = 2;           // batches ahead of the user's current one
  // `read.threads` is the initial number of simultaneous reads; it grows while workers wait for
  // reads, up to `max_read_threads` if that is larger. At most that many threads read, and the same
  // number of other threads look up file sizes if the container does not know them.
  ReadOptions read{};
  int max_read_threads = 256;
  size_t group = 4;  // the most records that a worker takes at a time
  // Limit in bytes of records that are read but not yet processed. The limit always allows two
  // records per worker, and substitutes in a batch that is being processed.
  size_t read_ahead_bytes = size_t{32} << 20;
  // Called on one of the engine's threads, at most once for each reason, when direct reads are
  // refused, are temporarily impossible, or were requested for files that are not kept open.
  Warn warn{};
  // Creates the read queue when the engine starts. For tests, which make reads fail. Requires: not
  // empty.
  std::function<std::unique_ptr<ReadQueue>(const ReadOptions&, ReadQueueCalls)> make_queue =
      make_read_queue;

  static const OptionTable<EngineOptions>& table();  // of threads, prefetch and read
};

// Threads: `next` and `restart` from one thread at a time; `progress`, `bad_records`, `stats`,
// `throw_stalled` and `stop` from any thread at any time. The engine's own threads block all
// signals; one of them calls the sampler. Fork: an engine belongs to the process in which `next`
// was first called. In a forked child, `stop` and the destructor do nothing, and everything else
// throws StateError.
class Engine {
 public:
  // Starts no threads; the first `next` does. `policy` is separate from `options` because it
  // changes results. `before`: null, or an engine of the same container that the new one replaces;
  // the new engine takes over its phase, its bad records and their count. Errors:
  // InvalidArgumentError for invalid options. Requires: only `before` may be null.
  Engine(std::shared_ptr<const Container> container, std::unique_ptr<Sampler> sampler,
         std::shared_ptr<const BatchLayout> layout, WorkerFactory make_worker,
         const EngineOptions& options, const ErrorPolicy& policy = {},
         const Engine* before = nullptr);

  // Stops and joins all threads; drops everything in flight. In a forked child, abandons the
  // parent's threads and leaks the memory.
  ~Engine();
  Engine& operator=(Engine&&) = delete;

  enum class Status : uint8_t { kBatch, kEndOfEpoch, kTimeout };
  struct Next {
    Status status = Status::kTimeout;
    std::optional<Batch> batch{};  // with kBatch
  };

  // Waits at most `timeout` for the next batch; does not wait if it is 0 or less. After the last
  // batch of an epoch, returns kEndOfEpoch once, then the next epoch's batches; if the sampler has
  // no more batches, kEndOfEpoch on every call. A batch without rows also counts as a batch.
  // Errors: with `raise`, the error of the batch's first bad row in row order, with record and
  // place, in place of the batch; the next call returns the following batch. With `skip`,
  // TooManyBadRecordsError in place of the batch with which an epoch exceeds `max_bad`, and on
  // every call until `restart`; that batch is never returned. A sampler's error comes in place of
  // the batch that was not planned; after it, the sampler is called again. Exceptions that are not
  // Errors (a lack of memory for a record, exceptions of a worker's libraries) are converted to
  // Errors with their text and the record's place; std::bad_alloc is thrown if there is no memory
  // for a whole batch. An error of the worker factory, of starting a thread or within a thread ends
  // the engine: every `next` throws it. StateError after `stop`.
  Next next(std::chrono::milliseconds timeout = std::chrono::hours(24 * 365));

  // The user's progress within an epoch.
  enum class Phase : uint8_t {
    kBeginning,   // no batch was returned since the epoch began, or since `restart`
    kInside,      // a batch was returned, and more may follow
    kEnd,         // the last batch was returned; kEndOfEpoch is next
    kOver,        // kEndOfEpoch was returned; the next epoch's first batch is next
    kTooManyBad,  // `next` throws TooManyBadRecordsError until `restart`
  };
  Phase phase() const;

  // Changes the phases kEnd and kOver to kBeginning of the next epoch, so that kEndOfEpoch is not
  // returned (again). Does not change other phases. Errors: TooManyBadRecordsError if too many bad
  // records have ended the run.
  void begin_epoch();

  // Discards everything in flight and continues with a different sampler. Batches already returned
  // stay valid. Does not wait for reads and processing in progress; `next` does. Until they have
  // ended, the previous sampler may still be called. Errors: StateError after `stop`; the error
  // that has ended the engine.
  enum class BadCount : uint8_t {
    kAnew,  // resets the count for `max_bad`; the phase becomes kBeginning
    kGoOn,  // keeps the epoch's count and the phase
  };
  void restart(std::unique_ptr<Sampler> sampler, BadCount count = BadCount::kAnew);

  // The progress after the last batch that `next` returned, or in place of which it threw a bad
  // row's error; before the first batch, the start of the sampler.
  Progress progress() const;

  // The records skipped in all returned batches, including those of the engines that this one
  // replaced: one entry per record, in the order of first occurrence, from index `since` on.
  std::vector<BadRecord> bad_records(size_t since = 0) const;

  Stats stats() const;

  // Throws a StallError for a caller that has waited `seconds`. It names the step for which the
  // next batch waits, with the sample's index in the container, its file and the offset. Changes
  // nothing and reads no files.
  [[noreturn]] void throw_stalled(double seconds) const;

  // Ends all work and joins the threads; a `next` that waits in another thread throws StateError.
  // May be repeated.
  void stop();

 private:
  // The pipeline. Errors: StateError in a forked child of the process that it belongs to.
  Pipeline& mine() const;

  std::unique_ptr<Pipeline> pipeline_;
};

}  // namespace fuelrail
