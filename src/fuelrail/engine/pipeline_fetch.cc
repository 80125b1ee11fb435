// The fetch thread: plans batches, submits their reads, passes on what has been read.
#include <algorithm>
#include <bit>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/engine/pipeline.h"

namespace fuelrail {
namespace {

constexpr size_t kChunk = 32;  // rows located, and reads submitted, at a time

// What an aligned read may need before and after a record.
constexpr size_t kRoomForDirect = 3 * kDirectAlignment;

uint64_t tag_of(Row& row) { return std::bit_cast<uint64_t>(&row); }
Row& row_of(uint64_t tag) { return *std::bit_cast<Row*>(tag); }

// Whether what stands in for the row's bad record is read whatever the bound says.
bool passes_bound(const Row* row) { return row->job->near; }

}  // namespace

void Pipeline::fetch() {
  try {
    completions_.resize(2 * kChunk);
    fetch_until_halted();
    discard_reads();
  } catch (...) {
    fail(std::current_exception());
  }
  std::lock_guard lock(mutex_);
  fetch_waits_ = FetchWait::kNot;  // an error may have come while it did
}

void Pipeline::fetch_until_halted() {
  Lock lock(mutex_);
  fetch_clock_.enter();
  while (!halted()) {
    note_looks();
    if (discarding_) {
      start_over(lock);
    } else if (can_issue()) {
      fill(lock);
    } else {
      await_more(lock);
    }
  }
  fetch_clock_.leave();
  unlock_and_wake(lock);
}

// Submits reads up to the bound, of which then a quarter has to be free again: few, long bursts.
void Pipeline::fill(Lock& lock) {
  unlock_and_wake(lock);
  while (issue()) collect(0);
  collect(0);
  lock.lock();
}

// Waits until reads have come or there is something else to do: `unlock_and_wake` ends it then.
void Pipeline::await_more(Lock& lock) {
  if (wake_due(lock)) return;
  if (queue_->in_flight() > 0) {
    fetch_waits_ = FetchWait::kInQueue;
    // Few at a time while workers want them, more while they have enough to do.
    const size_t wanted = idle_workers_ > 0 ? 1 : options_.group;
    fetch_wants_ = wanted;
    lock.unlock();
    collect(wanted);
    lock.lock();
    return;
  }
  fetch_waits_ = FetchWait::kOnRoom;
  const bool on_storage = !looked_at_.empty() || (awaits_look_ && buffers_.has_room());
  if (!on_storage) fetch_clock_.begin_waiting();
  room_.wait(lock);
  if (!on_storage) fetch_clock_.end_waiting();
  fetch_waits_ = FetchWait::kNot;
}

// Lets everything in flight end, then goes on with the sampler that `restart` left.
void Pipeline::start_over(Lock& lock) {
  unlock_and_wake(lock);
  discard_reads();
  lock.lock();
  room_.wait(lock, [this] { return running_ == 0 || halted(); });
  if (halted()) return;
  for (JobPointer& job : jobs_) {
    for (Row& row : job->rows) buffers_.give_back(std::move(row.buffer));
    recycle(std::move(job));
  }
  jobs_.clear();
  skipped_.clear();
  looked_at_.clear();
  look_ahead_->go_on();
  unwanted_ = {};
  sampler_ = std::move(next_sampler_);
  depth_.begin();
  issuing_ = nullptr;
  first_open_ = ready_ = held_back_ = untaken_ = newly_ready_ = 0;
  discarding_ = exhausted_ = plan_failed_ = end_of_epoch_ = false;
}

void Pipeline::discard_reads() {
  queue_->cancel();
  while (queue_->in_flight() > 0) queue_->wait(completions_, 1);
  look_ahead_->drop();
  for (Completion& completion : completions_) completion.error = nullptr;
}

// While the user waits, the batch that he waits for does not count as prefetched.
size_t Pipeline::wanted_batches() const { return options_.prefetch + (consumer_waits_ ? 1 : 0); }

// Where storage is slow, further batches are planned, so that enough of their reads are in flight.
bool Pipeline::may_plan() const {
  if (exhausted_ || plan_failed_) return false;
  if (jobs_.size() < wanted_batches()) return true;
  return sampler_->plans_far_ahead() && untaken_ < depth_.ahead() &&
         jobs_.size() < options_.prefetch + depth_.ahead();
}

// Lets workers take the rows of every batch that is wanted by now.
void Pipeline::let_near() {
  const size_t end = std::min(jobs_.size(), wanted_batches());
  for (size_t i = end; i-- > 0 && !jobs_[i]->near;) {
    BatchJob& job = *jobs_[i];
    job.near = true;
    held_back_ -= job.waiting();
    ready_ += job.waiting();
    newly_ready_ += job.waiting();
  }
}

// The bound on what is read and not processed, and why nobody waits for it for ever. A buffer comes
// back from its read, and then from its worker; but workers take rows of near jobs only, so that
// the other jobs' rows keep theirs until the first job has been handed out. So no row of a near job
// may wait for a buffer that a job behind it holds.
// - Rows not issued yet are the last planned job's. Where that is near, all are, and every buffer
//   comes back; a record larger than the bound goes in at the latest when none is in use.
// - A row whose record was bad has given its buffer back, and later jobs may have taken the room
//   since. In a near job it passes the bound, by the one buffer. In another it waits: behind it
//   stands nobody who is due, and when its job becomes near the fetch thread is woken.
// Elsewhere the fetch thread waits for reads and looks in progress, which end, and for the sampler
// (feed.h says what a feeder owes).
//
// Where this is true `issue` changes something: never twice in vain.
bool Pipeline::can_issue() const {
  if (std::any_of(skipped_.begin(), skipped_.end(), passes_bound)) return true;
  if (!skipped_.empty()) return buffers_.has_room();
  if (issuing_) return !awaits_look_ && buffers_.has_room();
  return may_plan();
}

// Submits the next chunk of reads. Returns: whether there may be more to issue.
bool Pipeline::issue() {
  requests_.clear();
  bool more = refetch_rows();
  if (more && !issuing_) more = plan_batch();
  if (more && issuing_) more = locate_rows() && admit_rows();
  queue_->submit(requests_);
  return more;
}

// Finds other records for the rows whose own were bad, and notes their reads, before anything new
// is read; those of near jobs first. Rows whose new records take a look come back when it has ended
// (looked_at_). Returns: whether the bound admitted all others.
bool Pipeline::refetch_rows() {
  if (policy_.on_error == OnError::kRaise) return true;
  std::vector<Row*> rows;
  {
    std::lock_guard lock(mutex_);
    rows = skipped_;  // only this thread takes any out
  }
  for (Row* row : rows) {
    if (!row->located) substitute(*row);
  }
  Lock lock(mutex_);
  skipped_.erase(skipped_.begin(), skipped_.begin() + static_cast<std::ptrdiff_t>(rows.size()));
  std::erase_if(rows, [](const Row* row) { return !row->located; });
  std::stable_partition(rows.begin(), rows.end(), passes_bound);
  auto next = rows.begin();
  if (!halted() && !discarding_) {
    for (; next != rows.end() && (passes_bound(*next) || admits(**next)); ++next) admit(**next);
  }
  const bool all = next == rows.end();
  skipped_.insert(skipped_.begin(), next, rows.end());  // `admit` may have added some
  unlock_and_wake(lock);
  return all;
}

// Gives the row the next substitute for its record; where there is none, its last error stays.
void Pipeline::substitute(Row& row) {
  const uint32_t attempt = row.entry.substitute + 1;
  std::optional<uint64_t> record;
  if (attempt <= Sampler::kMaxSubstitutes) {
    record = sampler_->substitute(row.job->plan, row.index, attempt);
  }
  if (!record) {
    row.located = row.hopeless = true;  // with the error that it has
    return;
  }
  row.entry.record = *record;
  row.entry.substitute = attempt;
  row.error = nullptr;
  if (*record < container_->size() && look_ahead_->look_at_substitute(tag_of(row), *record)) {
    std::lock_guard lock(mutex_);
    looked_at_.push_back(&row);
  } else {
    locate(row, false);
  }
}

// On a thread of the looks.
void Pipeline::look_ended() {
  Lock lock(mutex_);
  looks_ended_ = true;
  unlock_and_wake(lock);
}

// Rows whose new records have been looked at by now are as any that were skipped, but located.
// Requires: the lock is held.
void Pipeline::note_looks() {
  looks_ended_ = false;
  std::erase_if(looked_at_, [this](Row* row) {
    if (!look_ahead_->is_substitute_found(tag_of(*row))) return false;
    locate(*row, false);
    skipped_.push_back(row);
    return true;
  });
  awaits_look_ = issuing_ && located_ == next_row_ && !is_found(issuing_->rows[next_row_]);
}

// Whether the next planned row can be located without waiting for a look.
bool Pipeline::is_found(const Row& row) {
  return row.entry.record >= container_->size() || look_ahead_->is_found();
}

// Asks the sampler for the next batch. Returns: whether there is one, or an error in its place.
bool Pipeline::plan_batch() {
  size_t ahead = 0;
  {
    std::lock_guard lock(mutex_);
    if (halted() || discarding_ || !may_plan()) return false;
    ahead = depth_.ahead();
  }
  std::optional<BatchPlan> plan;
  std::exception_ptr error;
  try {
    plan = look_ahead_->next_plan(*sampler_, ahead);
  } catch (...) {
    error = std::current_exception();
  }

  Lock lock(mutex_);
  if (!plan && !error) {
    exhausted_ = true;
    unlock_and_wake(lock);
    return false;
  }
  JobPointer job;
  if (recycled_.empty()) {
    job = std::make_unique<BatchJob>();
  } else {
    job = std::move(recycled_.back());
    recycled_.pop_back();
  }
  plan_failed_ = job->plan_failed = error != nullptr;
  job->error = std::move(error);
  job->begin(plan ? std::move(*plan) : BatchPlan{});
  untaken_ += job->rows.size();
  issuing_ = job->rows.empty() ? nullptr : job.get();
  next_row_ = located_ = 0;
  jobs_.push_back(std::move(job));
  let_near();
  unlock_and_wake(lock);
  return true;
}

// Returns: whether there are rows to admit. Waits for no look.
bool Pipeline::locate_rows() {
  const size_t end = std::min(issuing_->rows.size(), next_row_ + kChunk);
  for (; located_ < end; ++located_) {
    Row& row = issuing_->rows[located_];
    if (!is_found(row)) break;
    locate(row, true);
  }
  return located_ > next_row_;
}

// `planned` = its turn among the planned records; else it is a substitute.
void Pipeline::locate(Row& row, bool planned) const {
  const uint64_t record = row.entry.record;
  row.located = true;
  try {
    if (record >= container_->size()) {
      row.hopeless = true;  // the order is wrong, not the data
      throw OutOfRangeError(
          "there is no such record",
          {.record = record, .expected = "below " + std::to_string(container_->size())});
    }
    row.extent =
        planned ? look_ahead_->find(record) : look_ahead_->find_substitute(tag_of(row), record);
    check_length(row.extent, policy_.max_record_bytes);
  } catch (...) {
    row.error = std::current_exception();
  }
}

// Takes buffers for located rows and notes their reads, as long as the bound admits them. Returns:
// whether it admitted all.
bool Pipeline::admit_rows() {
  Lock lock(mutex_);
  bool room = !halted() && !discarding_;
  while (room && issuing_ && next_row_ < located_) {
    Row& row = issuing_->rows[next_row_];
    room = admits(row);
    if (!room) break;
    // Once its last row is done, the job belongs to the consumer.
    if (++next_row_ == issuing_->rows.size()) issuing_ = nullptr;
    admit(row);
  }
  unlock_and_wake(lock);
  return room;
}

bool Pipeline::admits(const Row& row) const {
  return row.error || buffers_.admits(static_cast<size_t>(row.extent.length));
}

void Pipeline::admit(Row& row) {
  if (row.error) return drop_row(row, std::exchange(row.error, nullptr));
  const auto length = static_cast<size_t>(row.extent.length);
  if (length == 0) return mark_ready(row);
  try {
    row.buffer = buffers_.take(may_be_direct(row) ? length + kRoomForDirect : length);
    requests_.push_back(request_for(row));
    row.stage = Row::Stage::kReading;
  } catch (...) {
    drop_row(row, std::current_exception());
  }
}

bool Pipeline::may_be_direct(const Row& row) const {
  return options_.direct_reads && row.extent.source->descriptor() >= 0;
}

// A direct read wants the record as far behind an aligned address as it is behind an aligned
// offset.
ReadRequest Pipeline::request_for(Row& row) const {
  const MutableBytes room(row.buffer.data.get(), row.buffer.capacity);
  row.begin = 0;
  if (may_be_direct(row)) {
    const auto address = std::bit_cast<uintptr_t>(room.data());
    row.begin = static_cast<size_t>(-address % kDirectAlignment) +
                static_cast<size_t>(row.extent.offset % kDirectAlignment);
  }
  return {.source = row.extent.source.get(),
          .offset = row.extent.offset,
          .into = room.subspan(row.begin, static_cast<size_t>(row.extent.length)),
          .tag = tag_of(row),
          .room = room};
}

void Pipeline::mark_ready(Row& row) {
  row.stage = Row::Stage::kRead;
  row.job->ready.push_back(row.index);
  if (!row.job->near) {
    ++held_back_;
    return;
  }
  ++ready_;
  ++newly_ready_;
}

// Passes on what has been read, after waiting for `at_least` reads (or all that are in flight, or
// an interruption).
void Pipeline::collect(size_t at_least) {
  const size_t in_flight = queue_->in_flight();
  const size_t count = queue_->wait(completions_, std::min(at_least, completions_.size()));
  if (at_least == 0 && count == 0) return;
  Lock lock(mutex_);
  fetch_waits_ = FetchWait::kNot;
  if (count == 0) return;
  if (halted() || discarding_) return;  // cancelled reads are not errors of their rows
  const bool starving = ready_ + held_back_ == 0 && !jobs_.front()->complete();
  for (Completion& completion : std::span(completions_).first(count)) {
    Row& row = row_of(completion.tag);
    if (completion.error) {
      drop_row(row, std::exchange(completion.error, nullptr));
    } else {
      fetch_clock_.moved(row.extent.length);
      mark_ready(row);
    }
  }
  fetch_clock_.took(count, in_flight);
  const bool deeper = depth_.arrived(count, starving);
  const auto reads = static_cast<int>(depth_.reads());
  unlock_and_wake(lock);
  if (deeper) {
    queue_->set_threads(reads);
    look_ahead_->set_threads(reads);
  }
}

}  // namespace fuelrail
