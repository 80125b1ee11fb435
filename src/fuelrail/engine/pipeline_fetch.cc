// The fetch thread: plans batches, submits their reads, passes on the records read.
#include <algorithm>
#include <bit>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/engine/pipeline.h"

namespace fuelrail {
namespace {

constexpr size_t kChunk = 32;  // rows located and reads submitted at a time

// Extra bytes that an aligned read may need around a record.
constexpr size_t kRoomForDirect = 3 * kDirectAlignment;

// The records that workers may read themselves. Reads of small neighbours become one read if they
// are read ahead; a large record leaves the CPU cache before it is processed.
constexpr size_t kLeastOwnRead = size_t{16} << 10;
constexpr size_t kMostOwnRead = size_t{1} << 20;

uint64_t tag_of(Row& row) { return std::bit_cast<uint64_t>(&row); }
Row& row_of(uint64_t tag) { return *std::bit_cast<Row*>(tag); }

// Whether the row's substitute is read even if the limit on read-ahead is reached.
bool passes_bound(const Row* row) { return row->job->near && !row->unread; }

}  // namespace

void Pipeline::fetch() {
  fetch_thread_.begin();
  try {
    {
      const Lock lock(mutex_);
      fetch_.queue = shared_.queue.get();
      fetch_.look_ahead = shared_.look_ahead.get();
    }
    fetch_.completions.resize(2 * kChunk);
    fetch_until_halted();
    discard_reads();
  } catch (...) {
    fail(std::current_exception());
  }
  const Lock lock(mutex_);
  shared_.fetch_waits = FetchWait::kNot;  // an error may have ended the wait
}

void Pipeline::fetch_until_halted() {
  const Turn turn(*this);
  shared_.fetch_clock.enter();
  while (!shared_.halted()) {
    note_looks();
    if (shared_.discarding) {
      start_over();
    } else if (can_issue()) {
      fill();
    } else {
      await_more();
    }
  }
  shared_.fetch_clock.leave();
}

// Submits reads up to the limit. The next call waits until a quarter of it is free: few, long
// bursts.
void Pipeline::fill() {
  const Pause pause(*this);
  while (issue()) collect(0);
  collect(0);
}

// Waits until reads complete, or until `unlock_and_wake` reports other work.
void Pipeline::await_more() {
  if (wake_due()) return;
  if (fetch_.queue->in_flight() > 0) {
    shared_.fetch_waits = FetchWait::kInQueue;
    // One at a time while workers are idle, more while all are busy.
    const size_t wanted = shared_.idle_workers > 0 ? 1 : options_.group;
    shared_.fetch_wants = wanted;
    const Unlocked unlocked(mutex_);
    collect(wanted);
    return;
  }
  shared_.fetch_waits = FetchWait::kOnRoom;
  const bool on_storage =
      !shared_.looked_at.empty() || (shared_.awaits_look && shared_.buffers.has_room());
  if (!on_storage) shared_.fetch_clock.begin_waiting();
  room_.wait(mutex_);
  if (!on_storage) shared_.fetch_clock.end_waiting();
  shared_.fetch_waits = FetchWait::kNot;
}

// Called at the beginning and after `restart`: waits for everything in flight, then takes the next
// sampler.
void Pipeline::start_over() {
  {
    const Pause pause(*this);
    discard_reads();
  }
  while (shared_.running > 0 && !shared_.halted()) room_.wait(mutex_);
  if (shared_.halted()) return;
  for (JobPointer& job : shared_.jobs) {
    for (Row& row : job->rows) release(row);
    recycle(std::move(job));
  }
  shared_.jobs.clear();
  shared_.returned.clear();
  shared_.looked_at.clear();
  fetch_.look_ahead->go_on();
  shared_.unwanted = {};
  fetch_.sampler = std::move(shared_.next_sampler);
  shared_.plans_far_ahead = fetch_.sampler->plans_far_ahead();
  shared_.depth.begin();
  issue_from(nullptr);
  shared_.first_open = shared_.ready = shared_.held_back = shared_.untaken = shared_.newly_ready =
      0;
  shared_.unread = 0;
  shared_.discarding = shared_.exhausted = shared_.plan_failed = false;
}

void Pipeline::discard_reads() {
  fetch_.queue->cancel();
  while (fetch_.queue->in_flight() > 0) fetch_.queue->wait(fetch_.completions, 1);
  fetch_.look_ahead->drop();
  for (Completion& completion : fetch_.completions) completion.error = nullptr;
}

// The batch that the user waits for does not count as prefetched.
size_t Pipeline::wanted_batches() const {
  return options_.prefetch + (shared_.consumer_waits ? 1 : 0);
}

// On slow storage, more batches are planned, so that enough reads are in flight.
bool Pipeline::may_plan() const {
  if (shared_.exhausted || shared_.plan_failed) return false;
  if (shared_.jobs.size() < wanted_batches()) return true;
  return shared_.plans_far_ahead && shared_.untaken < shared_.depth.ahead() &&
         shared_.jobs.size() < options_.prefetch + shared_.depth.ahead();
}

// Lets workers take the rows of all batches within the prefetch limit.
void Pipeline::let_near() {
  const size_t end = std::min(shared_.jobs.size(), wanted_batches());
  for (size_t i = end; i-- > 0 && !shared_.jobs[i]->near;) {
    BatchJob& job = *shared_.jobs[i];
    job.near = true;
    shared_.held_back -= job.waiting();
    shared_.ready += job.waiting();
    shared_.newly_ready += job.waiting();
  }
}

// The limit on records read and not processed, and why no thread waits for it forever. A buffer is
// released by its read or its worker. But workers take rows of near jobs only, so rows of the other
// jobs keep their buffers until the first job has been returned. So no row of a near job may wait
// for a buffer that a later job holds:
// - Rows not issued yet belong to the last planned job. If that job is near, all jobs are, so all
//   buffers will be released. A record larger than the limit is admitted at the latest when
//   no buffer is in use.
// - A row whose record was bad has released its buffer, which a later job may have taken. In a near
//   job, the row's substitute may exceed the limit by one buffer. In any other job it waits: no
//   near row depends on it, and the fetch thread is woken when its job becomes near.
// - An unread row, if its record is not cached, needs a buffer after rows that were issued later.
//   So while there are unread rows, only rows of near jobs are given buffers (is_held).
// Otherwise the fetch thread waits only for reads and looks in progress, which end, and for the
// sampler (feed.h states what the caller must do).
//
// If this returns true, `issue` changes the state, so the caller does not loop forever.
bool Pipeline::can_issue() const {
  if (std::any_of(shared_.returned.begin(), shared_.returned.end(), passes_bound)) return true;
  const auto is_free = [this](const Row* row)
                           FUELRAIL_REQUIRES(mutex_) { return !is_held(*row->job); };
  if (!shared_.returned.empty()) {
    return shared_.buffers.has_room() &&
           std::any_of(shared_.returned.begin(), shared_.returned.end(), is_free);
  }
  if (shared_.issuing && is_held(*shared_.jobs.back())) return false;
  if (shared_.issuing) return !shared_.awaits_look && shared_.buffers.has_room();
  return may_plan();
}

// Whether the job's rows have to wait until workers have read the unread rows.
bool Pipeline::is_held(const BatchJob& job) const { return shared_.unread > 0 && !job.near; }

// Submits the next chunk of reads. Returns: whether more may be issued.
bool Pipeline::issue() {
  fetch_.requests.clear();
  bool more = refetch_rows();
  if (more && !fetch_.issuing) more = plan_batch();
  if (more && fetch_.issuing) more = locate_rows() && admit_rows();
  probe();
  fetch_.queue->submit(fetch_.requests);
  return more;
}

// Finds substitutes for rows whose records were bad, and prepares the reads of all returned rows
// before any new ones, near jobs first. Rows whose substitutes need a look return when it has ended
// (shared_.looked_at). Returns: whether the limit admitted all other rows.
bool Pipeline::refetch_rows() {
  std::vector<Row*> rows;
  {
    const Lock lock(mutex_);
    rows = shared_.returned;  // only this thread removes any
  }
  if (rows.empty()) return true;
  for (Row* row : rows) {
    if (!row->located) substitute(*row);
  }
  const Turn turn(*this);
  shared_.returned.erase(shared_.returned.begin(),
                         shared_.returned.begin() + static_cast<std::ptrdiff_t>(rows.size()));
  std::erase_if(rows, [](const Row* row) { return !row->located; });
  std::stable_partition(rows.begin(), rows.end(), [](const Row* row) { return row->job->near; });
  std::stable_partition(rows.begin(), rows.end(), passes_bound);
  auto next = rows.begin();
  if (!shared_.halted() && !shared_.discarding) {
    for (; next != rows.end(); ++next) {
      Row& row = **next;
      if (!passes_bound(&row) && (is_held(*row.job) || !admits(row))) break;
      clear_unread(row);
      admit(row);
    }
  }
  const bool all = next == rows.end();
  shared_.returned.insert(shared_.returned.begin(), next,
                          rows.end());  // `admit` may have added rows
  return all;
}

// Gives the row the next substitute for its record; if there is none, the row keeps its last error.
void Pipeline::substitute(Row& row) {
  const uint32_t attempt = row.entry.substitute + 1;
  std::optional<uint64_t> record;
  if (attempt <= Sampler::kMaxSubstitutes) {
    record = fetch_.sampler->substitute(row.job->plan, row.index, attempt);
  }
  if (!record) {
    row.located = row.hopeless = true;  // keeps its error
    return;
  }
  row.entry.record = *record;
  row.entry.substitute = attempt;
  row.error = nullptr;
  if (*record < container_->size() && fetch_.look_ahead->look_at_substitute(tag_of(row), *record)) {
    const Lock lock(mutex_);
    shared_.looked_at.push_back(&row);
  } else {
    locate(row, false);
  }
}

// Called on a thread of the looks.
void Pipeline::look_ended() {
  const Turn turn(*this);
  shared_.looks_ended = true;
}

// Moves rows whose looks have ended back to the skipped rows, now located, and starts looks that
// waited for room.
void Pipeline::note_looks() {
  shared_.looks_ended = false;
  std::erase_if(shared_.looked_at, [this](Row* row) FUELRAIL_REQUIRES(fetch_thread_, mutex_) {
    if (!fetch_.look_ahead->is_substitute_found(tag_of(*row))) return false;
    locate(*row, false);
    shared_.returned.push_back(row);
    return true;
  });
  fetch_.look_ahead->start_looks(shared_.buffers.room_bytes());
  shared_.looks_wait_at.reset();
  if (fetch_.look_ahead->waits_for_room()) shared_.looks_wait_at = shared_.buffers.in_use_bytes();
  shared_.awaits_look = fetch_.issuing && fetch_.located == fetch_.next_row &&
                        !is_found(fetch_.issuing->rows[fetch_.next_row]);
}

// Whether `row`, the next planned one, can be located without waiting for a look.
bool Pipeline::is_found(const Row& row) {
  return row.entry.record >= container_->size() || fetch_.look_ahead->is_found();
}

// Plans the sampler's next batch. Returns: whether there is a batch or an error in its place.
bool Pipeline::plan_batch() {
  size_t ahead = 0;
  {
    const Lock lock(mutex_);
    if (shared_.halted() || shared_.discarding || !may_plan()) return false;
    ahead = shared_.depth.ahead();
  }
  std::optional<BatchPlan> plan;
  std::exception_ptr error;
  try {
    plan = fetch_.look_ahead->next_plan(*fetch_.sampler, ahead);
  } catch (...) {
    error = std::current_exception();
  }

  const Turn turn(*this);
  if (!plan && !error) {
    shared_.exhausted = true;
    return false;
  }
  JobPointer job;
  if (shared_.recycled.empty()) {
    job = std::make_unique<BatchJob>();
  } else {
    job = std::move(shared_.recycled.back());
    shared_.recycled.pop_back();
  }
  shared_.plan_failed = job->plan_failed = error != nullptr;
  job->error = std::move(error);
  job->begin(plan ? std::move(*plan) : BatchPlan{});
  shared_.untaken += job->rows.size();
  issue_from(job->rows.empty() ? nullptr : job.get());
  shared_.jobs.push_back(std::move(job));
  let_near();
  return true;
}

// Sets the job whose rows are issued next, from its first row on. Null: no rows.
void Pipeline::issue_from(BatchJob* job) {
  fetch_.issuing = job;
  fetch_.next_row = fetch_.located = 0;
  shared_.issuing = job != nullptr;
}

// Locates the next rows, without waiting for looks. Returns: whether there are rows to admit.
bool Pipeline::locate_rows() {
  const size_t end = std::min(fetch_.issuing->rows.size(), fetch_.next_row + kChunk);
  for (; fetch_.located < end; ++fetch_.located) {
    Row& row = fetch_.issuing->rows[fetch_.located];
    if (!is_found(row)) break;
    locate(row, true);
  }
  return fetch_.located > fetch_.next_row;
}

// `planned`: the row's record is the next planned one; otherwise it is a substitute.
void Pipeline::locate(Row& row, bool planned) {
  const uint64_t record = row.entry.record;
  row.located = true;
  try {
    if (record >= container_->size()) {
      row.hopeless = true;  // the order is wrong, not the record
      throw OutOfRangeError(
          "the record does not exist",
          {.record = record,
           .expected = "a record index below " + std::to_string(container_->size())});
    }
    row.extent = planned ? fetch_.look_ahead->find(record)
                         : fetch_.look_ahead->find_substitute(tag_of(row), record);
    check_length(row.extent, policy_.max_record_bytes);
  } catch (...) {
    row.error = std::current_exception();
  }
}

// Takes buffers for located rows and prepares their reads, as long as the limit admits them.
// Returns: whether it admitted all.
bool Pipeline::admit_rows() {
  const Turn turn(*this);
  bool room = !shared_.halted() && !shared_.discarding;
  while (room && fetch_.issuing && fetch_.next_row < fetch_.located) {
    Row& row = fetch_.issuing->rows[fetch_.next_row];
    const bool unread = shared_.worker_reads.on() && may_leave_to_worker(row);
    room = !is_held(*row.job) && (unread || admits(row));
    if (!room) break;
    // First, because after its last row is done the job belongs to the consumer.
    if (++fetch_.next_row == fetch_.issuing->rows.size()) issue_from(nullptr);
    if (unread) {
      row.unread = true;
      ++shared_.unread;
      mark_ready(row);
    } else {
      admit(row);
    }
  }
  return room;
}

// A record that is in memory already is always admitted: `start_looks` has applied the limit.
bool Pipeline::admits(const Row& row) const {
  if (row.error || !row.extent.source->memory().empty()) return true;
  return shared_.buffers.admits(static_cast<size_t>(row.extent.length));
}

void Pipeline::admit(Row& row) {
  if (row.error) return drop_row(row, std::exchange(row.error, nullptr));
  const auto length = static_cast<size_t>(row.extent.length);
  if (length == 0) return mark_ready(row);
  try {
    if (const Bytes memory = row.extent.source->memory(); !memory.empty()) {
      check_range(row.extent.source->uri(), memory.size(), row.extent.offset, length);
      row.in_memory = memory.subspan(row.extent.offset, length);
      shared_.buffers.hold(length);
      count_read(row);
      return mark_ready(row);
    }
    row.buffer = shared_.buffers.take(may_be_direct(row) ? length + kRoomForDirect : length);
    fetch_.requests.push_back(request_for(row));
    row.stage = Row::Stage::kReading;
  } catch (...) {
    drop_row(row, std::current_exception());
  }
}

// A backend that was asked for reads all records.
bool Pipeline::may_leave_to_worker(const Row& row) const {
  return !row.error && row.extent.length >= kLeastOwnRead && row.extent.length <= kMostOwnRead &&
         !options_.read.direct && options_.read.backend == ReadBackend::kAuto &&
         row.extent.source->descriptor() >= 0;
}

void Pipeline::clear_unread(Row& row) {
  if (std::exchange(row.unread, false)) --shared_.unread;
}

// Reads one of the prepared records at once if it is in the page cache.
void Pipeline::probe() {
  if (fetch_.requests.empty()) return;
  const ReadRequest request = fetch_.requests.back();
  Row& row = row_of(request.tag);
  if (!may_leave_to_worker(row)) return;
  const bool cached = request.source->read_if_cached(request.offset, {&request.into, 1});
  const Turn turn(*this);
  shared_.worker_reads.probed(cached);
  if (!cached || shared_.halted() || shared_.discarding) return;
  fetch_.requests.pop_back();
  count_read(row);
  mark_ready(row);
}

void Pipeline::count_read(const Row& row) {
  shared_.fetch_clock.moved(row.extent.length);
  shared_.fetch_clock.took(1, 0);
}

bool Pipeline::may_be_direct(const Row& row) const {
  return options_.read.direct && row.extent.source->descriptor() >= 0;
}

// For a direct read, the record must have the same distance from an aligned address as from an
// aligned offset.
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
    ++shared_.held_back;
    return;
  }
  ++shared_.ready;
  ++shared_.newly_ready;
}

// Passes on the records read, after waiting for `at_least` reads (or all in flight, if fewer), or
// for an interruption.
void Pipeline::collect(size_t at_least) {
  const size_t in_flight = fetch_.queue->in_flight();
  const size_t count =
      fetch_.queue->wait(fetch_.completions, std::min(at_least, fetch_.completions.size()));
  if (at_least == 0 && count == 0) return;
  bool deeper = false;
  int reads = 0;
  {
    const Turn turn(*this);
    shared_.fetch_waits = FetchWait::kNot;
    if (count == 0) return;
    // A cancelled read is not an error of its row.
    if (shared_.halted() || shared_.discarding) return;
    const bool starving =
        shared_.ready + shared_.held_back == 0 && !shared_.jobs.front()->complete();
    for (Completion& completion : std::span(fetch_.completions).first(count)) {
      Row& row = row_of(completion.tag);
      if (completion.error) {
        drop_row(row, std::exchange(completion.error, nullptr));
      } else {
        shared_.fetch_clock.moved(row.extent.length);
        mark_ready(row);
      }
    }
    shared_.fetch_clock.took(count, in_flight);
    deeper = shared_.depth.arrived(count, starving);
    reads = static_cast<int>(shared_.depth.reads());
  }
  if (deeper) {
    fetch_.queue->set_threads(reads);
    fetch_.look_ahead->set_threads(reads);
  }
}

}  // namespace fuelrail
