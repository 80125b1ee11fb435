// The implementation of the engine: the state that its threads share, and the work of each thread.
//
// One lock guards the state. A worker takes it once for each group of records (to hand in the
// finished group and take the next), the fetch thread once for each chunk of reads, a look-up
// thread once for each look. When the lock is released, `Turn` and `Pause` wake exactly the threads
// that wait for a change made under it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "fuelrail/base/guarded.h"
#include "fuelrail/base/own_process.h"
#include "fuelrail/engine/bad_records.h"
#include "fuelrail/engine/batch_job.h"
#include "fuelrail/engine/engine.h"
#include "fuelrail/engine/look_ahead.h"
#include "fuelrail/engine/read_depth.h"
#include "fuelrail/engine/stage_clock.h"
#include "fuelrail/engine/worker_reads.h"
#include "fuelrail/storage/read_queue.h"

namespace fuelrail {

class Pipeline {
 public:
  Pipeline(std::shared_ptr<const Container> container, std::unique_ptr<Sampler> sampler,
           std::shared_ptr<const BatchLayout> layout, WorkerFactory make_worker,
           const EngineOptions& options, const ErrorPolicy& policy);
  ~Pipeline() { stop(); }
  Pipeline& operator=(Pipeline&&) = delete;

  Engine::Next next(std::chrono::milliseconds timeout);
  Engine::Phase phase() const;
  void begin_epoch();
  void restart(std::unique_ptr<Sampler> sampler, Engine::BadCount count);
  void go_on_from(const Pipeline& before);  // must be called before the other methods
  Progress progress() const;
  std::vector<BadRecord> bad_records(size_t since) const;
  Stats stats();
  [[noreturn]] void throw_stalled(double seconds) const;
  void stop();

  // Whether this process is a forked child of the one that the threads belong to. Takes no lock: in
  // a forked child, the lock may be held by a thread that exists only in the parent.
  bool orphaned() const { return process_.is_parents(); }

 private:
  using JobPointer = std::unique_ptr<BatchJob>;

  // The rows that a worker processes together: tasks[i] produces rows[i].
  struct Group {
    std::vector<Task> tasks;
    std::vector<Row*> rows;
  };
  // Where the fetch thread waits for work.
  enum class FetchWait : uint8_t { kNot, kOnRoom, kInQueue };
  // The result of `next`, after it was removed from the shared state.
  struct Handout {
    std::optional<Batch> batch;
    std::exception_ptr error;
    std::optional<Entry> bad;  // the row's entry, if `error` is that of a row
  };

  // The state that the threads share, guarded by the lock.
  struct SharedState {
    bool halted() const { return stopped || failure; }
    bool next_is_ready() const;
    const Row* slowest_row() const;

    ReadBuffers buffers;
    ReadDepth depth;
    Progress progress;
    BadRecords bad_records;
    std::unique_ptr<Sampler> next_sampler;  // the fetch thread takes it once nothing is in flight
    bool discarding = true;                 // until the fetch thread has taken next_sampler
    bool stopped = false;
    std::exception_ptr failure{};
    size_t idle_workers = 0;
    std::stop_source unwanted{};              // cancels the rows that workers process
    size_t running = 0;                       // groups that workers process
    size_t newly_ready = 0;                   // rows that became ready since the last wake-up
    FetchWait fetch_waits = FetchWait::kNot;  // kNot once it is woken
    size_t fetch_wants = 0;                   // number of reads that it waits for in the queue
    bool consumer_waits = false;              // false once it is woken

    std::unique_ptr<SlotPool> slots{};
    std::deque<JobPointer> jobs{};  // planned and not returned yet, in order
    std::vector<JobPointer> recycled{};
    // Rows whose record was bad: the fetch thread finds a substitute, which may wait here for room.
    // And unread rows whose record was not cached: the fetch thread reads it.
    std::vector<Row*> returned{};
    std::vector<Row*> looked_at{};  // returned rows; their substitutes are being looked up
    WorkerReads worker_reads{};
    size_t unread = 0;             // rows that are left to workers to read
    bool looks_ended = false;      // since the fetch thread last collected results
    bool plans_far_ahead = false;  // copied from the sampler
    bool issuing = false;          // the last planned job has rows to issue
    bool awaits_look = false;      // the next row to issue waits for a look
    // If looks wait for room: the bytes in use by buffers when they began to.
    std::optional<size_t> looks_wait_at{};
    size_t first_open = 0;  // index in jobs: earlier ones have no row to take
    size_t ready = 0;       // rows read and not taken, in near jobs
    size_t held_back = 0;   // rows read and not taken, in the other jobs
    size_t untaken = 0;     // rows not taken, read or not, in all jobs
    bool exhausted = false;
    bool plan_failed = false;  // planning stops until the error has been thrown
    Engine::Phase phase = Engine::Phase::kBeginning;  // never kTooManyBad; see too_many_bad
    std::exception_ptr too_many_bad{};                // set until `restart`

    std::chrono::steady_clock::time_point started_at{};
    StageClock fetch_clock{};
    StageClock process_clock{};
    StageClock consumer_clock{};
    WorkerCounts counts{};

    std::unique_ptr<LookAhead> look_ahead{};
    // Destroyed first, because it reads into rows' buffers. Shared with the thread that interrupts
    // it.
    std::shared_ptr<ReadQueue> queue{};
  };

  // The fetch thread's own state.
  struct FetchState {
    ReadQueue* queue = nullptr;  // the shared objects, which outlive the thread
    LookAhead* look_ahead = nullptr;
    std::unique_ptr<Sampler> sampler;
    BatchJob* issuing = nullptr;  // the last planned job, if it has rows to issue
    size_t next_row = 0;          // in `issuing`: the next row to issue
    size_t located = 0;           // in `issuing`: rows before this one are located
    std::vector<ReadRequest> requests;
    std::vector<Completion> completions;
  };

  // Holds the lock for a scope, then releases it and wakes the threads that wait for changes made
  // under it.
  class FUELRAIL_ANNOTATION(scoped_lockable) Turn {
   public:
    explicit Turn(Pipeline& pipeline) FUELRAIL_ACQUIRE(pipeline.mutex_) : pipeline_(pipeline) {
      pipeline_.mutex_.lock();
    }
    ~Turn() FUELRAIL_RELEASE() { pipeline_.unlock_and_wake(); }
    Turn& operator=(Turn&&) = delete;

   private:
    Pipeline& pipeline_;
  };
  // Releases the lock for a scope and wakes the threads that wait for changes made under it.
  class FUELRAIL_ANNOTATION(scoped_lockable) Pause {
   public:
    explicit Pause(Pipeline& pipeline) FUELRAIL_RELEASE(pipeline.mutex_) : pipeline_(pipeline) {
      pipeline_.unlock_and_wake();
    }
    ~Pause() FUELRAIL_RELEASE() { pipeline_.mutex_.lock(); }
    Pause& operator=(Pause&&) = delete;

   private:
    Pipeline& pipeline_;
  };

  void start();
  void check_usable() const FUELRAIL_REQUIRES(mutex_);
  void fail(std::exception_ptr failure);
  void cancel_reads() FUELRAIL_REQUIRES(mutex_);
  void wake_all();

  void unlock_and_wake() FUELRAIL_RELEASE(mutex_);
  bool wake_due() FUELRAIL_REQUIRES(mutex_);
  bool fetch_is_due() const FUELRAIL_REQUIRES(mutex_);

  // Called by the consumer.
  bool wait_for_next(std::chrono::milliseconds timeout) FUELRAIL_REQUIRES(mutex_);
  Handout hand_out() FUELRAIL_REQUIRES(mutex_);
  void recycle(JobPointer job) FUELRAIL_REQUIRES(mutex_);

  // Called by workers (pipeline_work.cc).
  void work();
  void work_until_halted(Worker& worker);
  bool claim(Group& group) FUELRAIL_REQUIRES(mutex_);
  bool take_group(Group& group) FUELRAIL_REQUIRES(mutex_);
  void take_from(BatchJob& job, size_t most, Group& group) FUELRAIL_REQUIRES(mutex_);
  size_t group_size() const FUELRAIL_REQUIRES(mutex_);
  bool have_slot(BatchJob& job) FUELRAIL_REQUIRES(mutex_);
  void process_group(Worker& worker, Group& group, std::vector<std::byte>& records);
  void hand_in(Group& group) FUELRAIL_REQUIRES(mutex_);
  void return_row(Row& row) FUELRAIL_REQUIRES(mutex_);
  void join_rows(BatchJob& job) FUELRAIL_REQUIRES(mutex_);
  void drop_row(Row& row, std::exception_ptr error) FUELRAIL_REQUIRES(mutex_);
  void finish_row(Row& row, std::exception_ptr error) FUELRAIL_REQUIRES(mutex_);
  bool skip(Row& row, const std::exception_ptr& error) FUELRAIL_REQUIRES(mutex_);

  // Decide what to read (pipeline_fetch.cc). Called by all threads.
  bool may_plan() const FUELRAIL_REQUIRES(mutex_);
  size_t wanted_batches() const FUELRAIL_REQUIRES(mutex_);
  void let_near() FUELRAIL_REQUIRES(mutex_);
  bool can_issue() const FUELRAIL_REQUIRES(mutex_);
  bool is_held(const BatchJob& job) const FUELRAIL_REQUIRES(mutex_);
  bool admits(const Row& row) const FUELRAIL_REQUIRES(mutex_);
  void count_read(const Row& row) FUELRAIL_REQUIRES(mutex_);
  void clear_unread(Row& row) FUELRAIL_REQUIRES(mutex_);
  void mark_ready(Row& row) FUELRAIL_REQUIRES(mutex_);
  void release(Row& row) FUELRAIL_REQUIRES(mutex_);
  void look_ended();

  // Called by the fetch thread.
  void fetch();
  void fetch_until_halted() FUELRAIL_REQUIRES(fetch_thread_);
  void fill() FUELRAIL_REQUIRES(fetch_thread_, mutex_);
  void await_more() FUELRAIL_REQUIRES(fetch_thread_, mutex_);
  void start_over() FUELRAIL_REQUIRES(fetch_thread_, mutex_);
  void discard_reads() FUELRAIL_REQUIRES(fetch_thread_);
  bool issue() FUELRAIL_REQUIRES(fetch_thread_);
  void issue_from(BatchJob* job) FUELRAIL_REQUIRES(fetch_thread_, mutex_);
  bool plan_batch() FUELRAIL_REQUIRES(fetch_thread_);
  bool refetch_rows() FUELRAIL_REQUIRES(fetch_thread_);
  void probe() FUELRAIL_REQUIRES(fetch_thread_);
  void substitute(Row& row) FUELRAIL_REQUIRES(fetch_thread_);
  void note_looks() FUELRAIL_REQUIRES(fetch_thread_, mutex_);
  bool is_found(const Row& row) FUELRAIL_REQUIRES(fetch_thread_);
  bool locate_rows() FUELRAIL_REQUIRES(fetch_thread_);
  void locate(Row& row, bool planned) FUELRAIL_REQUIRES(fetch_thread_);
  bool admit_rows() FUELRAIL_REQUIRES(fetch_thread_);
  void admit(Row& row) FUELRAIL_REQUIRES(fetch_thread_, mutex_);
  bool may_leave_to_worker(const Row& row) const;
  bool may_be_direct(const Row& row) const;
  ReadRequest request_for(Row& row) const;
  void collect(size_t at_least) FUELRAIL_REQUIRES(fetch_thread_);

  const std::shared_ptr<const Container> container_;
  const std::shared_ptr<const BatchLayout> layout_;
  const WorkerFactory make_worker_;
  const EngineOptions options_;
  const ErrorPolicy policy_;
  const size_t workers_;

  // Threads. `start_mutex_` is taken before `mutex_`.
  Mutex start_mutex_;
  std::atomic<bool> started_ = false;
  OwnProcess process_{OwnProcess::Since::kBegin};  // `begin` is called before any lock is taken
  std::vector<std::thread> threads_ FUELRAIL_GUARDED_BY(start_mutex_);

  mutable Mutex mutex_;
  SharedState shared_ FUELRAIL_GUARDED_BY(mutex_);
  Condition work_;   // workers wait for records
  Condition room_;   // the fetch thread waits while no read is in flight
  Condition batch_;  // the consumer waits for the next batch

  OneThread fetch_thread_;
  FetchState fetch_ FUELRAIL_GUARDED_BY(fetch_thread_);
};

}  // namespace fuelrail
