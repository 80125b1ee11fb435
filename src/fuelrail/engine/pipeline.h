// The engine's inside: the state that its threads share, and what each of them does.
//
// One lock guards the state. A worker takes it once a group of records (it hands in the group done
// and takes the next), the fetch thread once a chunk of reads, a thread that looks at files once a
// look. Whoever changes something notes under the lock whom to wake, and wakes them after it has
// let the lock go, and only those who wait.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "fuelrail/engine/bad_records.h"
#include "fuelrail/engine/batch_job.h"
#include "fuelrail/engine/engine.h"
#include "fuelrail/engine/look_ahead.h"
#include "fuelrail/engine/read_depth.h"
#include "fuelrail/engine/stage_clock.h"
#include "fuelrail/storage/read_queue.h"

namespace fuelrail {

class Pipeline {
 public:
  Pipeline(std::shared_ptr<const Container> container, std::unique_ptr<Sampler> sampler,
           std::shared_ptr<const BatchLayout> layout, WorkerFactory make_worker,
           const EngineOptions& options, const ErrorPolicy& policy);
  ~Pipeline() { stop(); }
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  Engine::Next next(std::chrono::milliseconds timeout);
  void restart(std::unique_ptr<Sampler> sampler, Engine::BadCount count);
  void go_on_from(const Pipeline& before);  // before anything else
  Progress progress() const;
  std::vector<BadRecord> bad_records(size_t since) const;
  Stats stats();
  [[noreturn]] void throw_stalled(double seconds) const;
  void stop();

  // Whether the threads are those of the process that this one was forked from. Takes no lock: a
  // thread that is not there may hold it.
  bool orphaned() const;

 private:
  using Lock = std::unique_lock<std::mutex>;
  using JobPointer = std::unique_ptr<BatchJob>;

  // What a worker works on at a time: tasks[i] makes rows[i].
  struct Group {
    std::vector<Task> tasks;
    std::vector<Row*> rows;
  };
  // Where the fetch thread waits for something to do.
  enum class FetchWait : uint8_t { kNot, kOnRoom, kInQueue };
  // What `next` hands out, once it is off the shared state.
  struct Handout {
    std::optional<Batch> batch;
    std::exception_ptr error;
    std::optional<Entry> bad;  // whose error it is, where it is a row's
  };

  void start();
  void check_usable() const;
  bool halted() const { return stopped_ || failure_; }
  void fail(std::exception_ptr failure);
  void cancel_reads();

  void unlock_and_wake(Lock& lock);
  bool wake_due(Lock& lock);
  bool fetch_is_due() const;

  // The consumer's side.
  bool next_is_ready() const;
  const Row* slowest_row() const;
  bool wait_for_next(Lock& lock, std::chrono::milliseconds timeout);
  Handout hand_out();
  Engine::Next finish_handout(Handout handout) const;
  void recycle(JobPointer job);

  // A worker's (pipeline_work.cc).
  void work();
  void work_until_halted(Worker& worker);
  bool claim(Lock& lock, Group& group);
  bool take_group(Group& group);
  void take_from(BatchJob& job, size_t most, Group& group);
  size_t group_size() const;
  bool have_slot(BatchJob& job);
  void hand_in(Group& group);
  void drop_row(Row& row, std::exception_ptr error);
  void finish_row(Row& row, std::exception_ptr error);
  bool skip(Row& row, const std::exception_ptr& error);

  // The fetch thread's (pipeline_fetch.cc).
  void fetch();
  void fetch_until_halted();
  void fill(Lock& lock);
  void await_more(Lock& lock);
  void start_over(Lock& lock);
  void discard_reads();
  bool may_plan() const;
  size_t wanted_batches() const;
  void let_near();
  bool can_issue() const;
  bool issue();
  bool plan_batch();
  bool refetch_rows();
  void substitute(Row& row);
  void look_ended();
  void note_looks();
  bool is_found(const Row& row);
  bool locate_rows();
  void locate(Row& row, bool planned) const;
  bool admit_rows();
  bool admits(const Row& row) const;
  void admit(Row& row);
  bool may_be_direct(const Row& row) const;
  ReadRequest request_for(Row& row) const;
  void mark_ready(Row& row);
  void collect(size_t at_least);

  const std::shared_ptr<const Container> container_;
  const std::shared_ptr<const BatchLayout> layout_;
  const WorkerFactory make_worker_;
  const EngineOptions options_;
  const ErrorPolicy policy_;
  const size_t workers_;

  // Threads. `start_mutex_` is taken before `mutex_`.
  std::mutex start_mutex_;
  std::atomic<bool> started_ = false;
  std::atomic<pid_t> process_ = 0;  // that starts the threads; written before any lock is taken
  std::vector<std::thread> threads_;

  // The shared state.
  mutable std::mutex mutex_;
  std::condition_variable work_;   // workers wait: for records
  std::condition_variable room_;   // the fetch thread waits, while no read is in flight
  std::condition_variable batch_;  // the consumer waits: for the next batch
  bool stopped_ = false;
  bool discarding_ = false;                // since `restart`, until nothing is in flight
  std::unique_ptr<Sampler> next_sampler_;  // while discarding_
  std::exception_ptr failure_;
  size_t idle_workers_ = 0;
  std::stop_source unwanted_;                // of the rows that workers work on
  size_t running_ = 0;                       // groups that workers work on
  size_t newly_ready_ = 0;                   // rows that became ready since workers were woken
  FetchWait fetch_waits_ = FetchWait::kNot;  // and has not been woken
  size_t fetch_wants_ = 0;                   // reads, while it waits in the queue
  bool consumer_waits_ = false;              // likewise

  std::unique_ptr<SlotPool> slots_;
  ReadBuffers buffers_;
  ReadDepth depth_;
  std::deque<JobPointer> jobs_;  // planned and not handed out, in order
  std::vector<JobPointer> recycled_;
  // Rows whose record was bad: the fetch thread finds them another, which may wait here for room.
  std::vector<Row*> skipped_;
  std::vector<Row*> looked_at_;  // were skipped; their new records are being looked at
  bool looks_ended_ = false;     // since the fetch thread has noted what they found
  bool awaits_look_ = false;     // the next row to issue does
  size_t first_open_ = 0;        // into jobs_: those before it have no row that could be taken
  size_t ready_ = 0;             // rows read and not taken, of the jobs near
  size_t held_back_ = 0;         // likewise, of those after them
  size_t untaken_ = 0;           // rows not taken, read or not, of all jobs
  bool exhausted_ = false;
  bool plan_failed_ = false;   // nothing more is planned until the error has been handed out
  bool end_of_epoch_ = false;  // comes next
  Progress progress_;
  BadRecords bad_records_;
  std::exception_ptr too_many_bad_;  // until `restart`

  std::chrono::steady_clock::time_point started_at_;
  StageClock fetch_clock_;
  StageClock process_clock_;
  StageClock consumer_clock_;
  uint64_t tolerated_ = 0;

  BatchJob* issuing_ = nullptr;  // the last planned job, while it has rows to issue

  // The fetch thread's own.
  std::unique_ptr<Sampler> sampler_;
  size_t next_row_ = 0;  // of issuing_: the next to issue
  size_t located_ = 0;   // of issuing_: extents are known before this one
  std::vector<ReadRequest> requests_;
  std::vector<Completion> completions_;
  std::unique_ptr<LookAhead> look_ahead_;
  // Destroyed first: it reads into rows' buffers. Shared with who wakes the fetch thread there.
  std::shared_ptr<ReadQueue> queue_;
};

}  // namespace fuelrail
