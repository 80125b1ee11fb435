#include "fuelrail/engine/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fuelrail/base/cpu.h"
#include "fuelrail/base/error.h"
#include "fuelrail/base/native_thread.h"

namespace fuelrail {
namespace {

constexpr size_t kReadAheadRecords = 1024;  // limits small records by number instead of bytes
constexpr std::chrono::milliseconds kForever = std::chrono::hours(24 * 365);

size_t worker_count(const EngineOptions& options) {
  return static_cast<size_t>(options.threads.value_or(default_threads()));
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
      shared_{.buffers = ReadBuffers(options.read_ahead_bytes,
                                     std::max(kReadAheadRecords, 4 * workers_ * options.group),
                                     2 * workers_),
              .depth = ReadDepth(static_cast<size_t>(options.read.threads),
                                 static_cast<size_t>(options.max_read_threads)),
              .progress = sampler->progress(),
              .bad_records = BadRecords(*container_, policy.most_bad(container_->size())),
              .next_sampler = std::move(sampler)} {}

// --- life ---------------------------------------------------------------------------------------

void Pipeline::start() {
  if (started_.load(std::memory_order_acquire)) return;
  process_.begin();
  const Lock starting(start_mutex_);
  {
    const Lock lock(mutex_);
    check_usable();
    if (started_.load(std::memory_order_relaxed)) return;
    shared_.queue = options_.make_queue(options_.read, {.warn = options_.warn});
    shared_.look_ahead =
        std::make_unique<LookAhead>(container_, options_.read.threads, [this] { look_ended(); });
    // The slots that the engine fills, the user's current one, and one that the user is about to
    // release.
    shared_.slots = std::make_unique<SlotPool>(layout_->total_bytes(), options_.prefetch + 2);
    shared_.started_at = std::chrono::steady_clock::now();
    shared_.consumer_clock.enter();
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
  if (shared_.stopped) {
    throw StateError("the engine has been stopped", {.remedy = "Create a new loader"});
  }
  if (shared_.failure) std::rethrow_exception(shared_.failure);
}

void Pipeline::stop() {
  {
    const Lock lock(mutex_);
    shared_.stopped = true;
    shared_.unwanted.request_stop();
    if (shared_.look_ahead) shared_.look_ahead->give_up();
    cancel_reads();
  }
  wake_all();
  const Lock starting(start_mutex_);
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  // Destroyed without the lock, because their threads may take it before they end.
  std::shared_ptr<ReadQueue> queue;
  std::unique_ptr<LookAhead> look_ahead;
  {
    const Lock lock(mutex_);
    queue.swap(shared_.queue);
    look_ahead.swap(shared_.look_ahead);
  }
  queue.reset();
  look_ahead.reset();
  const Lock lock(mutex_);
  shared_.jobs.clear();
  shared_.recycled.clear();
}

void Pipeline::fail(std::exception_ptr failure) {
  {
    const Lock lock(mutex_);
    if (!shared_.failure) shared_.failure = std::move(failure);
    cancel_reads();
  }
  wake_all();
}

// Ends the fetch thread's wait for reads and looks soon.
void Pipeline::cancel_reads() {
  if (shared_.queue) shared_.queue->cancel();
  if (shared_.look_ahead) shared_.look_ahead->cancel();
}

// --- waking -------------------------------------------------------------------------------------

void Pipeline::wake_all() {
  work_.notify_all();
  room_.notify_all();
  batch_.notify_all();
}

void Pipeline::unlock_and_wake() {
  const size_t workers = std::min(std::exchange(shared_.newly_ready, 0), shared_.idle_workers);
  const FetchWait fetch =
      fetch_is_due() ? std::exchange(shared_.fetch_waits, FetchWait::kNot) : FetchWait::kNot;
  const bool consumer = shared_.consumer_waits && shared_.next_is_ready();
  if (consumer) shared_.consumer_waits = false;
  const std::shared_ptr<ReadQueue> queue = fetch == FetchWait::kInQueue ? shared_.queue : nullptr;
  mutex_.unlock();
  for (size_t i = 0; i < workers; ++i) work_.notify_one();
  if (fetch == FetchWait::kOnRoom) room_.notify_one();
  if (queue) queue->interrupt();
  if (consumer) batch_.notify_one();
}

// Called before a wait: wakes the threads that have work. Returns: whether there were any; the
// state may then have changed.
bool Pipeline::wake_due() {
  const bool due = (shared_.newly_ready > 0 && shared_.idle_workers > 0) || fetch_is_due() ||
                   (shared_.consumer_waits && shared_.next_is_ready());
  if (!due) return false;
  const Pause pause(*this);
  return true;
}

bool Pipeline::fetch_is_due() const {
  if (shared_.fetch_waits == FetchWait::kNot) return false;
  if (can_issue() || (shared_.looks_ended && (shared_.awaits_look || !shared_.looked_at.empty())))
    return true;
  if (shared_.looks_wait_at && shared_.buffers.in_use_bytes() < *shared_.looks_wait_at) return true;
  // It waits for several reads, but idle workers need only one.
  return shared_.fetch_waits == FetchWait::kInQueue && shared_.fetch_wants > 1 &&
         shared_.idle_workers > 0;
}

// --- the consumer -------------------------------------------------------------------------------

bool Pipeline::SharedState::next_is_ready() const {
  if (halted() || phase == Engine::Phase::kEnd || too_many_bad) return true;
  if (discarding) return false;
  return jobs.empty() ? exhausted : jobs.front()->complete();
}

Engine::Next Pipeline::next(std::chrono::milliseconds timeout) {
  start();
  std::optional<Handout> handout;
  {
    const Turn turn(*this);
    if (!wait_for_next(timeout)) return {Engine::Status::kTimeout, std::nullopt};
    if (shared_.stopped || shared_.discarding) check_usable();
    if (shared_.too_many_bad) std::rethrow_exception(shared_.too_many_bad);
    const bool at_end = shared_.phase == Engine::Phase::kEnd;
    if (at_end || shared_.jobs.empty() || !shared_.jobs.front()->complete()) {
      if (!at_end) check_usable();  // otherwise the sampler is exhausted
      shared_.phase = Engine::Phase::kOver;
      return {Engine::Status::kEndOfEpoch, std::nullopt};
    }
    handout = hand_out();
  }
  if (handout->bad) throw_with_place(handout->error, *container_, *handout->bad);
  if (handout->error) std::rethrow_exception(handout->error);
  return {Engine::Status::kBatch, std::move(handout->batch)};
}

// Returns: false after the timeout.
bool Pipeline::wait_for_next(std::chrono::milliseconds timeout) {
  if (shared_.next_is_ready()) return true;
  const auto until = std::chrono::steady_clock::now() +
                     std::clamp(timeout, std::chrono::milliseconds(0), kForever);
  shared_.consumer_clock.begin_waiting();
  bool in_time = true;
  while (!shared_.next_is_ready() && in_time) {
    shared_.consumer_waits = true;  // one more batch may be planned and processed now
    let_near();
    if (wake_due()) continue;
    in_time = batch_.wait_until(mutex_, until);
  }
  shared_.consumer_waits = false;
  shared_.consumer_clock.end_waiting();
  return shared_.next_is_ready();
}

// The row that the next batch waits for: the first row that is being read, or else the first row
// that is not done. Null if no row is planned.
const Row* Pipeline::SharedState::slowest_row() const {
  const Row* open = nullptr;
  for (const JobPointer& job : jobs) {
    for (const Row& row : job->rows) {
      if (row.stage == Row::Stage::kReading) return &row;
      if (open == nullptr && row.stage != Row::Stage::kDone) open = &row;
    }
    if (open != nullptr && !discarding) break;
  }
  return open;
}

// Finds the place without the container's tables, which may be on the same stalled storage.
void Pipeline::throw_stalled(double seconds) const {
  const Lock lock(mutex_);
  const Row* const row = shared_.slowest_row();
  std::string stage = "the sampler has not returned a batch";
  std::string path;
  std::optional<uint64_t> offset;
  if (row != nullptr && row->stage == Row::Stage::kPlanned) {
    const uint64_t record = row->job->plan.entries[row->index].record;
    const bool is_looked_up = record < container_->size() && !container_->knows_extent(record);
    if (is_looked_up) path = container_->place(record).path;
    stage = !is_looked_up ? fmt::format("sample {} is waiting to be read", record)
            : container_->makes_at_once() > 0
                ? fmt::format("sample {} is being made by the dataset", record)
                : fmt::format("the file size of sample {} is being looked up", record);
  } else if (row != nullptr) {
    const bool read = row->stage == Row::Stage::kReading;
    stage = fmt::format("sample {} is being {}", row->entry.record, read ? "read" : "decoded");
    if (row->extent.source) {
      path = row->extent.source->uri();
      offset = row->extent.offset;
    }
  }
  throw StallError(fmt::format("no batch arrived for {} s: {}", seconds, stage),
                   {.path = path,
                    .offset = offset,
                    .remedy = "Check the file or step that this error names; to wait longer, "
                              "request the batch again"});
}

// Removes the first batch from the shared state.
Pipeline::Handout Pipeline::hand_out() {
  size_t finished = 0;
  while (finished < shared_.jobs.size() && shared_.jobs[finished]->complete()) ++finished;
  JobPointer job = std::move(shared_.jobs.front());
  shared_.jobs.pop_front();
  if (shared_.first_open > 0) --shared_.first_open;
  let_near();
  shared_.consumer_clock.took(1, finished);
  if (job->batch && !job->error) shared_.consumer_clock.moved(job->batch->bytes());

  Handout handout{std::move(job->batch), std::move(job->error), std::nullopt};
  if (!job->skipped.empty()) shared_.bad_records.note(job->plan.epoch, std::move(job->skipped));
  if (shared_.bad_records.too_many()) {
    shared_.too_many_bad = shared_.bad_records.too_many_error();
    handout = {std::nullopt, shared_.too_many_bad, std::nullopt};
    job->bad_row = BatchJob::kNone;
  } else if (job->plan_failed) {
    shared_.plan_failed = false;
  } else {
    shared_.progress = job->plan.after;
    shared_.phase = job->plan.ends_epoch ? Engine::Phase::kEnd : Engine::Phase::kInside;
  }
  if (job->bad_row != BatchJob::kNone) handout.bad = job->rows[job->bad_row].entry;
  recycle(std::move(job));
  if (!handout.error && !handout.batch) {
    handout.batch.emplace(layout_, shared_.slots->take(), 0);
    handout.batch->join();
  }
  return handout;
}

void Pipeline::recycle(JobPointer job) {
  job->clear();
  if (shared_.recycled.size() <= options_.prefetch) shared_.recycled.push_back(std::move(job));
}

void Pipeline::go_on_from(const Pipeline& before) {
  const Lock lock(mutex_);
  const Lock lock_before(before.mutex_);
  shared_.bad_records.go_on_from(before.shared_.bad_records);
  shared_.phase = before.shared_.phase;
  shared_.too_many_bad = before.shared_.too_many_bad;
}

void Pipeline::restart(std::unique_ptr<Sampler> sampler, Engine::BadCount count) {
  const Lock lock(mutex_);
  check_usable();
  shared_.progress = sampler->progress();
  if (count == Engine::BadCount::kAnew) {
    shared_.bad_records.count_anew();
    shared_.phase = Engine::Phase::kBeginning;
    shared_.too_many_bad = nullptr;
  }
  shared_.next_sampler.swap(sampler);
  shared_.discarding = true;
  shared_.unwanted.request_stop();
  cancel_reads();
  room_.notify_one();
}

Engine::Phase Pipeline::phase() const {
  const Lock lock(mutex_);
  return shared_.too_many_bad ? Engine::Phase::kTooManyBad : shared_.phase;
}

void Pipeline::begin_epoch() {
  const Lock lock(mutex_);
  if (shared_.too_many_bad) std::rethrow_exception(shared_.too_many_bad);
  const bool over = shared_.phase == Engine::Phase::kEnd || shared_.phase == Engine::Phase::kOver;
  if (over) shared_.phase = Engine::Phase::kBeginning;
}

Progress Pipeline::progress() const {
  const Lock lock(mutex_);
  return shared_.progress;
}

std::vector<BadRecord> Pipeline::bad_records(size_t since) const {
  const Lock lock(mutex_);
  const std::vector<BadRecord>& all = shared_.bad_records.list();
  return {all.begin() + static_cast<std::ptrdiff_t>(std::min(since, all.size())), all.end()};
}

Stats Pipeline::stats() {
  const Lock lock(mutex_);
  Stats stats;
  if (!started_.load(std::memory_order_relaxed)) return stats;
  stats.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - shared_.started_at).count();
  stats.fetch = shared_.fetch_clock.stats();
  stats.process = shared_.process_clock.stats();
  stats.consumer = shared_.consumer_clock.stats();
  stats.counts = shared_.counts;
  stats.read_backend = shared_.queue ? shared_.queue->backend_name() : "";
  stats.reads_at_once = shared_.depth.reads();
  const auto own = std::count_if(shared_.jobs.begin(), shared_.jobs.end(),
                                 [](const JobPointer& job) { return job->batch.has_value(); });
  stats.slots_lent = shared_.slots->lent() - static_cast<size_t>(own);
  stats.limit = limiting_stage(stats.fetch, stats.process, stats.consumer);
  return stats;
}

}  // namespace fuelrail
