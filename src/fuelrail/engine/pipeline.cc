#include "fuelrail/engine/pipeline.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

#include "fuelrail/base/cpu.h"
#include "fuelrail/base/error.h"
#include "fuelrail/base/native_thread.h"

namespace fuelrail {
namespace {

constexpr size_t kReadAheadRecords = 1024;  // small records are bounded by number, not by bytes
constexpr std::chrono::milliseconds kForever = std::chrono::hours(24 * 365);

size_t worker_count(const EngineOptions& options) {
  return static_cast<size_t>(options.threads > 0 ? options.threads : default_threads());
}

}  // namespace

Pipeline::Pipeline(std::shared_ptr<const Container> container, std::unique_ptr<Sampler> sampler,
                   std::shared_ptr<const BatchLayout> layout, WorkerFactory make_worker,
                   const EngineOptions& options, const ErrorPolicy& policy)
    : container_(std::move(container)),
      layout_(std::move(layout)),
      make_worker_(std::move(make_worker)),
      options_(options),
      policy_(policy),
      workers_(worker_count(options)),
      buffers_(options.read_ahead_bytes, std::max(kReadAheadRecords, 4 * workers_ * options.group),
               2 * workers_),
      depth_(static_cast<size_t>(options.read_threads),
             static_cast<size_t>(options.max_read_threads)),
      progress_(sampler->progress()),
      bad_records_(*container_, policy.max_bad),
      sampler_(std::move(sampler)) {}

// --- life ---------------------------------------------------------------------------------------

bool Pipeline::orphaned() const {
  const pid_t process = process_.load(std::memory_order_relaxed);
  return process != 0 && process != ::getpid();
}

void Pipeline::start() {
  if (started_.load(std::memory_order_acquire)) return;
  process_.store(::getpid(), std::memory_order_relaxed);
  std::lock_guard starting(start_mutex_);
  {
    std::lock_guard lock(mutex_);
    check_usable();
    if (started_.load(std::memory_order_relaxed)) return;
    queue_ = options_.make_queue({.threads = options_.read_threads,
                                  .backend = options_.read_backend,
                                  .direct = options_.direct_reads,
                                  .warn = options_.warn});
    look_ahead_ =
        std::make_unique<LookAhead>(container_, options_.read_threads, [this] { look_ended(); });
    // Slots that the engine fills, the one that the user works on, and one that he is about to let
    // go.
    slots_ = std::make_unique<SlotPool>(layout_->total_bytes(), options_.prefetch + 2);
    started_at_ = std::chrono::steady_clock::now();
    consumer_clock_.enter();
    started_.store(true, std::memory_order_release);
  }
  try {
    threads_.push_back(start_native_thread("fuelrail-fetch", [this] { fetch(); }));
    for (size_t i = 0; i < workers_; ++i) {
      threads_.push_back(start_native_thread("fuelrail-work", [this] { work(); }));
    }
  } catch (...) {
    fail(std::current_exception());
  }
}

void Pipeline::check_usable() const {
  if (stopped_) {
    throw StateError("the engine has been stopped", {.remedy = "Make a new loader"});
  }
  if (failure_) std::rethrow_exception(failure_);
}

void Pipeline::stop() {
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    unwanted_.request_stop();
    cancel_reads();
  }
  work_.notify_all();
  room_.notify_all();
  batch_.notify_all();
  std::lock_guard starting(start_mutex_);
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  // Their threads end, of which one may ask for the lock.
  std::shared_ptr<ReadQueue> queue;
  std::unique_ptr<LookAhead> look_ahead;
  {
    std::lock_guard lock(mutex_);
    queue.swap(queue_);
    look_ahead.swap(look_ahead_);
  }
  queue.reset();
  look_ahead.reset();
  std::lock_guard lock(mutex_);
  jobs_.clear();
  recycled_.clear();
}

void Pipeline::fail(std::exception_ptr failure) {
  {
    std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
    cancel_reads();
  }
  work_.notify_all();
  room_.notify_all();
  batch_.notify_all();
}

// Lets the fetch thread, which may wait for reads or looks, go on soon. Requires: the lock is held.
void Pipeline::cancel_reads() {
  if (queue_) queue_->cancel();
  if (look_ahead_) look_ahead_->cancel();
}

// --- waking -------------------------------------------------------------------------------------

// Lets the lock go, then wakes those who wait for what has changed under it.
void Pipeline::unlock_and_wake(Lock& lock) {
  const size_t workers = std::min(std::exchange(newly_ready_, 0), idle_workers_);
  const FetchWait fetch =
      fetch_is_due() ? std::exchange(fetch_waits_, FetchWait::kNot) : FetchWait::kNot;
  const bool consumer = consumer_waits_ && next_is_ready();
  if (consumer) consumer_waits_ = false;
  const std::shared_ptr<ReadQueue> queue = fetch == FetchWait::kInQueue ? queue_ : nullptr;
  lock.unlock();
  for (size_t i = 0; i < workers; ++i) work_.notify_one();
  if (fetch == FetchWait::kOnRoom) room_.notify_one();
  if (queue) queue->interrupt();
  if (consumer) batch_.notify_one();
}

// Before a wait: wakes those who are due. Returns: whether anybody was, and the state may have
// changed meanwhile.
bool Pipeline::wake_due(Lock& lock) {
  const bool due = (newly_ready_ > 0 && idle_workers_ > 0) || fetch_is_due() ||
                   (consumer_waits_ && next_is_ready());
  if (!due) return false;
  unlock_and_wake(lock);
  lock.lock();
  return true;
}

bool Pipeline::fetch_is_due() const {
  if (fetch_waits_ == FetchWait::kNot) return false;
  if (can_issue() || (looks_ended_ && (awaits_look_ || !looked_at_.empty()))) return true;
  // It waits for several reads while workers would take one.
  return fetch_waits_ == FetchWait::kInQueue && fetch_wants_ > 1 && idle_workers_ > 0;
}

// --- the consumer -------------------------------------------------------------------------------

bool Pipeline::next_is_ready() const {
  if (halted()) return true;
  if (discarding_) return false;
  if (end_of_epoch_ || too_many_bad_) return true;
  return jobs_.empty() ? exhausted_ : jobs_.front()->complete();
}

Engine::Next Pipeline::next(std::chrono::milliseconds timeout) {
  start();
  Lock lock(mutex_);
  if (!wait_for_next(lock, timeout)) return {Engine::Status::kTimeout, std::nullopt};
  if (stopped_ || discarding_) check_usable();
  if (std::exchange(end_of_epoch_, false)) return {Engine::Status::kEndOfEpoch, std::nullopt};
  if (too_many_bad_) std::rethrow_exception(too_many_bad_);
  if (!jobs_.empty() && jobs_.front()->complete()) {
    Handout handout = hand_out();
    unlock_and_wake(lock);
    return finish_handout(std::move(handout));
  }
  check_usable();
  return {Engine::Status::kEndOfEpoch, std::nullopt};  // exhausted
}

// Returns: false when the time has passed.
bool Pipeline::wait_for_next(Lock& lock, std::chrono::milliseconds timeout) {
  if (next_is_ready()) return true;
  const auto until = std::chrono::steady_clock::now() +
                     std::clamp(timeout, std::chrono::milliseconds(0), kForever);
  consumer_clock_.begin_waiting();
  bool in_time = true;
  while (!next_is_ready() && in_time) {
    consumer_waits_ = true;  // a further batch may be planned now, and worked on
    let_near();
    if (wake_due(lock)) continue;
    in_time = batch_.wait_until(lock, until) == std::cv_status::no_timeout;
  }
  consumer_waits_ = false;
  consumer_clock_.end_waiting();
  return next_is_ready();
}

// The row that the next batch waits for: one that is being read, if there is, of the first batch
// that has such; else the first that is not done. Null: none is planned. Requires: the lock is
// held.
const Row* Pipeline::slowest_row() const {
  const Row* open = nullptr;
  for (const JobPointer& job : jobs_) {
    for (const Row& row : job->rows) {
      if (row.stage == Row::Stage::kReading) return &row;
      if (open == nullptr && row.stage != Row::Stage::kDone) open = &row;
    }
    if (open != nullptr && !discarding_) break;
  }
  return open;
}

// The place is told without a look into the container's tables: they may be on the same storage.
void Pipeline::throw_stalled(double seconds) const {
  const std::lock_guard lock(mutex_);
  const Row* const row = slowest_row();
  std::string stage = "the sampler has given no batch";
  std::string path;
  std::optional<uint64_t> offset;
  if (row != nullptr && row->stage == Row::Stage::kPlanned) {
    const uint64_t record = row->job->plan.entries[row->index].record;
    const bool is_file = record < container_->size() && !container_->knows_extent(record);
    if (is_file) path = container_->place(record).path;
    stage = is_file ? fmt::format("the file of sample {} is being looked at", record)
                    : fmt::format("sample {} waits for its turn to be read", record);
  } else if (row != nullptr) {
    const bool read = row->stage == Row::Stage::kReading;
    stage = fmt::format("sample {} is being {}", row->entry.record, read ? "read" : "decoded");
    if (row->extent.source) {
      path = row->extent.source->uri();
      offset = row->extent.offset;
    }
  }
  throw StallError(fmt::format("no batch came for {} s: {}", seconds, stage),
                   {.path = path,
                    .offset = offset,
                    .remedy = "Look at what it waits for; the next call waits again"});
}

// Takes the first batch off the shared state.
Pipeline::Handout Pipeline::hand_out() {
  size_t finished = 0;
  while (finished < jobs_.size() && jobs_[finished]->complete()) ++finished;
  JobPointer job = std::move(jobs_.front());
  jobs_.pop_front();
  if (first_open_ > 0) --first_open_;
  let_near();
  consumer_clock_.took(1, finished);
  if (job->batch && !job->error) consumer_clock_.moved(job->batch->bytes());

  Handout handout{std::move(job->batch), std::move(job->error), std::nullopt};
  if (!job->skipped.empty()) bad_records_.note(job->plan.epoch, std::move(job->skipped));
  if (bad_records_.too_many()) {
    too_many_bad_ = bad_records_.too_many_error();
    handout = {std::nullopt, too_many_bad_, std::nullopt};
    job->bad_row = BatchJob::kNone;
  } else if (job->plan_failed) {
    plan_failed_ = false;
  } else {
    progress_ = job->plan.after;
    end_of_epoch_ = job->plan.ends_epoch;
  }
  if (job->bad_row != BatchJob::kNone) handout.bad = job->rows[job->bad_row].entry;
  recycle(std::move(job));
  return handout;
}

Engine::Next Pipeline::finish_handout(Handout handout) const {
  if (handout.bad) throw_with_place(handout.error, *container_, *handout.bad);
  if (handout.error) std::rethrow_exception(handout.error);
  if (!handout.batch) handout.batch.emplace(layout_, slots_->take(), 0);
  return {Engine::Status::kBatch, std::move(handout.batch)};
}

void Pipeline::recycle(JobPointer job) {
  job->clear();
  if (recycled_.size() <= options_.prefetch) recycled_.push_back(std::move(job));
}

void Pipeline::go_on_from(const Pipeline& before) {
  const std::scoped_lock lock(mutex_, before.mutex_);
  bad_records_.go_on_from(before.bad_records_);
  too_many_bad_ = before.too_many_bad_;
}

void Pipeline::restart(std::unique_ptr<Sampler> sampler, Engine::BadCount count) {
  std::lock_guard lock(mutex_);
  check_usable();
  progress_ = sampler->progress();
  if (count == Engine::BadCount::kAnew) {
    bad_records_.count_anew();
    too_many_bad_ = nullptr;
  }
  if (!started_.load(std::memory_order_relaxed)) return sampler_.swap(sampler);
  next_sampler_.swap(sampler);
  discarding_ = true;
  unwanted_.request_stop();
  cancel_reads();
  room_.notify_one();
}

Progress Pipeline::progress() const {
  std::lock_guard lock(mutex_);
  return progress_;
}

std::vector<BadRecord> Pipeline::bad_records(size_t since) const {
  std::lock_guard lock(mutex_);
  const std::vector<BadRecord>& all = bad_records_.list();
  return {all.begin() + static_cast<std::ptrdiff_t>(std::min(since, all.size())), all.end()};
}

Stats Pipeline::stats() {
  std::lock_guard lock(mutex_);
  Stats stats;
  if (!started_.load(std::memory_order_relaxed)) return stats;
  stats.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started_at_).count();
  stats.fetch = fetch_clock_.stats();
  stats.process = process_clock_.stats();
  stats.consumer = consumer_clock_.stats();
  stats.tolerated = tolerated_;
  stats.read_backend = queue_ ? queue_->backend_name() : "";
  stats.reads_at_once = depth_.reads();
  const auto own = std::count_if(jobs_.begin(), jobs_.end(),
                                 [](const JobPointer& job) { return job->batch.has_value(); });
  stats.slots_lent = slots_->lent() - static_cast<size_t>(own);
  stats.limit = limiting_stage(stats.fetch, stats.process, stats.consumer);
  return stats;
}

}  // namespace fuelrail
