#include "fuelrail/engine/pipeline.h"

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

// Each task gets an error of its own, to which its place is added: a span that the worker gives up
// as a whole is tried again, task by task.
void process(Worker& worker, std::span<Task> tasks) {
  try {
    return worker.process(tasks);
  } catch (...) {
    if (tasks.size() == 1) {
      tasks[0].error = std::current_exception();
      return;
    }
  }
  for (Task& task : tasks) {
    task.error = nullptr;
    task.tolerated = 0;
    process(worker, {&task, 1});
  }
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
      progress_(sampler->progress()),
      bad_records_(*container_, policy.max_bad),
      sampler_(std::move(sampler)) {}

// --- life ---------------------------------------------------------------------------------------

bool Pipeline::orphaned() const {
  return started_.load(std::memory_order_acquire) && ::getpid() != process_;
}

void Pipeline::start() {
  if (started_.load(std::memory_order_acquire)) return;
  std::lock_guard starting(start_mutex_);
  {
    std::lock_guard lock(mutex_);
    check_usable();
    if (started_.load(std::memory_order_relaxed)) return;
    queue_ = make_read_queue({.threads = options_.read_threads});
    // Slots that the engine fills, the one that the user works on, and one that he is about to let
    // go.
    slots_ = std::make_unique<SlotPool>(layout_->total_bytes(), options_.prefetch + 2);
    started_at_ = std::chrono::steady_clock::now();
    deliver_clock_.enter();
    process_ = ::getpid();
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
    if (queue_) queue_->cancel();
  }
  work_.notify_all();
  room_.notify_all();
  batch_.notify_all();
  std::lock_guard starting(start_mutex_);
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  std::lock_guard lock(mutex_);
  queue_.reset();
  jobs_.clear();
  recycled_.clear();
}

void Pipeline::fail(std::exception_ptr failure) {
  {
    std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
    if (queue_) queue_->cancel();
  }
  work_.notify_all();
  room_.notify_all();
  batch_.notify_all();
}

// --- waking -------------------------------------------------------------------------------------

// Lets the lock go, then wakes those who wait for what has changed under it.
void Pipeline::unlock_and_wake(Lock& lock) {
  const size_t workers = std::min(std::exchange(newly_ready_, 0), idle_workers_);
  const bool fetch = fetch_waits_ && can_issue();
  const bool consumer = consumer_waits_ && next_is_ready();
  if (fetch) fetch_waits_ = false;
  if (consumer) consumer_waits_ = false;
  lock.unlock();
  for (size_t i = 0; i < workers; ++i) work_.notify_one();
  if (fetch) room_.notify_one();
  if (consumer) batch_.notify_one();
}

// Before a wait: wakes those who are due. Returns: whether anybody was, and the state may have
// changed meanwhile.
bool Pipeline::wake_due(Lock& lock) {
  const bool due = (newly_ready_ > 0 && idle_workers_ > 0) || (fetch_waits_ && can_issue()) ||
                   (consumer_waits_ && next_is_ready());
  if (!due) return false;
  unlock_and_wake(lock);
  lock.lock();
  return true;
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
  deliver_clock_.begin_waiting();
  bool in_time = true;
  while (!next_is_ready() && in_time) {
    consumer_waits_ = true;  // a further batch may be planned now
    if (wake_due(lock)) continue;
    in_time = batch_.wait_until(lock, until) == std::cv_status::no_timeout;
  }
  consumer_waits_ = false;
  deliver_clock_.end_waiting();
  return next_is_ready();
}

// Takes the first batch off the shared state.
Pipeline::Handout Pipeline::hand_out() {
  size_t finished = 0;
  while (finished < jobs_.size() && jobs_[finished]->complete()) ++finished;
  JobPointer job = std::move(jobs_.front());
  jobs_.pop_front();
  if (first_open_ > 0) --first_open_;
  deliver_clock_.took(1, finished);
  deliver_clock_.moved(job->rows.size() * layout_->row_bytes());

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

void Pipeline::restart(std::unique_ptr<Sampler> sampler) {
  std::lock_guard lock(mutex_);
  check_usable();
  progress_ = sampler->progress();
  bad_records_.count_anew();
  too_many_bad_ = nullptr;
  if (!started_.load(std::memory_order_relaxed)) return sampler_.swap(sampler);
  next_sampler_.swap(sampler);
  discarding_ = true;
  queue_->cancel();
  room_.notify_one();
}

Progress Pipeline::progress() const {
  std::lock_guard lock(mutex_);
  return progress_;
}

std::vector<BadRecord> Pipeline::bad_records() const {
  std::lock_guard lock(mutex_);
  return bad_records_.list();
}

Stats Pipeline::stats() {
  std::lock_guard lock(mutex_);
  Stats stats;
  if (!started_.load(std::memory_order_relaxed)) return stats;
  stats.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started_at_).count();
  stats.fetch = fetch_clock_.stats();
  stats.process = process_clock_.stats();
  stats.deliver = deliver_clock_.stats();
  stats.tolerated = tolerated_;
  const auto own = std::count_if(jobs_.begin(), jobs_.end(),
                                 [](const JobPointer& job) { return job->batch.has_value(); });
  stats.slots_lent = slots_->lent() - static_cast<size_t>(own);
  stats.limit = limiting_stage(stats.fetch, stats.process, stats.deliver);
  return stats;
}

// --- a worker -----------------------------------------------------------------------------------

void Pipeline::work() {
  try {
    const std::unique_ptr<Worker> worker = make_worker_();
    if (!worker) throw StateError("the worker factory made no worker");
    work_until_halted(*worker);
  } catch (...) {
    fail(std::current_exception());
  }
}

void Pipeline::work_until_halted(Worker& worker) {
  Group group;
  Lock lock(mutex_);
  process_clock_.enter();
  while (claim(lock, group)) {
    unlock_and_wake(lock);
    process(worker, group.tasks);
    lock.lock();
    hand_in(group);
  }
  process_clock_.leave();
  unlock_and_wake(lock);
}

// Waits for a group of rows. Returns: false when the engine halts.
bool Pipeline::claim(Lock& lock, Group& group) {
  while (!halted()) {
    if (take_group(group)) {
      ++running_;
      return true;
    }
    if (wake_due(lock)) continue;
    if (discarding_ && running_ == 0) room_.notify_one();
    ++idle_workers_;
    process_clock_.begin_waiting();
    work_.wait(lock);
    process_clock_.end_waiting();
    --idle_workers_;
  }
  return false;
}

// Takes the next rows in the order of batches; a batch whose records have not come yet lets the one
// after it go first. Returns: false when there are none.
bool Pipeline::take_group(Group& group) {
  while (!discarding_ && ready_ > 0) {
    while (!jobs_[first_open_]->open()) ++first_open_;
    const size_t size = group_size();
    const size_t queued = ready_;
    for (size_t i = first_open_; i < jobs_.size() && group.rows.size() < size; ++i) {
      take_from(*jobs_[i], size - group.rows.size(), group);
    }
    process_clock_.took(queued - ready_, queued);
    if (!group.rows.empty()) return true;  // else: no memory for their batch, the rows are done
  }
  return false;
}

// Large groups in the middle, small ones near the end, so that all workers end together: of the
// batch that the user waits for, else of all that is planned.
size_t Pipeline::group_size() const {
  size_t left = untaken_;
  if (consumer_waits_ && first_open_ == 0) {
    left = jobs_.front()->rows.size() - jobs_.front()->taken;
  }
  return std::clamp<size_t>(left / (2 * workers_), 1, options_.group);
}

void Pipeline::take_from(BatchJob& job, size_t most, Group& group) {
  const size_t count = std::min(most, job.ready.size() - job.next_ready);
  if (count == 0) return;
  const bool writable = have_slot(job);
  ready_ -= count;
  untaken_ -= count;
  job.taken += count;
  for (size_t i = 0; i < count; ++i) {
    Row& row = job.rows[job.ready[job.next_ready++]];
    if (writable) {
      group.rows.push_back(&row);
      group.tasks.push_back(
          {.entry = row.entry, .framed = row.framed(), .batch = &*job.batch, .row = row.index});
    } else {
      finish_row(row, nullptr);
    }
  }
}

// A batch gets its memory when its first row is about to be written: what is only being read needs
// none.
bool Pipeline::have_slot(BatchJob& job) {
  if (job.batch) return true;
  try {
    job.batch.emplace(layout_, slots_->take(), job.rows.size());
  } catch (...) {
    if (!job.error) job.error = std::current_exception();
  }
  return job.batch.has_value();
}

void Pipeline::hand_in(Group& group) {
  --running_;
  for (size_t i = 0; i < group.rows.size(); ++i) {
    Task& task = group.tasks[i];
    tolerated_ += task.tolerated;
    if (!task.error) process_clock_.moved(layout_->row_bytes());
    finish_row(*group.rows[i], std::move(task.error));
  }
  group.rows.clear();
  group.tasks.clear();
}

// Ends a row that no worker took.
void Pipeline::drop_row(Row& row, std::exception_ptr error) {
  ++row.job->taken;
  --untaken_;
  finish_row(row, std::move(error));
}

void Pipeline::finish_row(Row& row, std::exception_ptr error) {
  BatchJob& job = *row.job;
  buffers_.give_back(std::move(row.buffer));
  row.extent.source.reset();
  row.located = false;
  if (error && skip(row, error)) return;
  ++job.done;
  if (error && row.index < job.bad_row) {
    job.bad_row = row.index;
    job.error = std::move(error);
  }
}

// Notes a bad record that the policy passes over. Returns: whether the row is to get another one,
// and is open again.
bool Pipeline::skip(Row& row, const std::exception_ptr& error) {
  if (policy_.on_error != OnError::kSkip || row.hopeless || !is_skippable(error)) return false;
  BatchJob& job = *row.job;
  job.skipped.push_back({row.index, row.entry, error});
  if (job.skipped.size() > policy_.max_bad) return false;  // this batch will not be handed out
  row.error = error;
  skipped_.push_back(&row);
  --job.taken;
  ++untaken_;
  const auto at = std::find_if(jobs_.begin(), jobs_.end(),
                               [&](const JobPointer& other) { return other.get() == &job; });
  first_open_ = std::min(first_open_, static_cast<size_t>(at - jobs_.begin()));
  return true;
}

}  // namespace fuelrail
