// The workers' part of the pipeline: takes groups of rows, processes them and hands them in.
#include <algorithm>
#include <span>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/engine/pipeline.h"

namespace fuelrail {
namespace {

// Each task must get its own error, to which its place is added. So if the worker throws for a
// whole span, the span is processed again, task by task.
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
    task.counts = {};
    process(worker, {&task, 1});
  }
}

// A worker reads as many records as fit into this part of its CPU's cache, then processes them.
constexpr size_t kReadAtOnce = size_t{256} << 10;

}  // namespace

void Pipeline::work() {
  try {
    const std::unique_ptr<Worker> worker = make_worker_();
    if (!worker) throw StateError("the worker factory returned no worker");
    work_until_halted(*worker);
  } catch (...) {
    fail(std::current_exception());
  }
}

void Pipeline::work_until_halted(Worker& worker) {
  Group group;
  std::vector<std::byte> records;
  const Turn turn(*this);
  shared_.process_clock.enter();
  while (claim(group)) {
    {
      const Pause pause(*this);
      process_group(worker, group, records);
    }
    hand_in(group);
  }
  shared_.process_clock.leave();
}

// Processes the group, and reads its unread records into `records`, just before they are processed.
// Leaves the task of a record that is not cached as it is.
void Pipeline::process_group(Worker& worker, Group& group, std::vector<std::byte>& records) {
  const std::span<Task> tasks = group.tasks;
  size_t begin = 0;  // of the tasks to process
  size_t used = 0;   // of `records`
  const auto process_until = [&](size_t end) {
    if (begin < end) process(worker, tasks.subspan(begin, end - begin));
    begin = end;
    used = 0;
  };
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (!group.rows[i]->unread) continue;
    const Extent& extent = group.rows[i]->extent;
    const auto length = static_cast<size_t>(extent.length);
    if (used + length > kReadAtOnce) process_until(i);
    if (used + length > records.size()) records.resize(std::max(length, kReadAtOnce));
    const MutableBytes into = MutableBytes(records).subspan(used, length);
    if (extent.source->read_if_cached(extent.offset, {&into, 1})) {
      tasks[i].framed = into;
      used += length;
    } else {
      process_until(i);
      ++begin;
    }
  }
  process_until(tasks.size());
}

// Waits for a group of rows. Returns: false if the engine halts.
bool Pipeline::claim(Group& group) {
  while (!shared_.halted()) {
    if (take_group(group)) {
      ++shared_.running;
      return true;
    }
    ++shared_.idle_workers;
    if (!wake_due()) {
      if (shared_.discarding && shared_.running == 0) room_.notify_one();
      shared_.process_clock.begin_waiting();
      work_.wait(mutex_);
      shared_.process_clock.end_waiting();
    }
    --shared_.idle_workers;
  }
  return false;
}

// Takes the next rows in the order of batches; if a batch's records have not arrived, takes rows of
// the following batch. Returns: false if no row is ready.
bool Pipeline::take_group(Group& group) {
  while (!shared_.discarding && shared_.ready > 0) {
    while (!shared_.jobs[shared_.first_open]->open()) ++shared_.first_open;
    const size_t size = group_size();
    const size_t queued = shared_.ready;
    for (size_t i = shared_.first_open;
         i < shared_.jobs.size() && shared_.jobs[i]->near && group.rows.size() < size; ++i) {
      take_from(*shared_.jobs[i], size - group.rows.size(), group);
    }
    shared_.process_clock.took(queued - shared_.ready, queued);
    // If it is empty, there was no memory for the rows' batch, and the rows are done.
    if (!group.rows.empty()) return true;
  }
  return false;
}

// Groups are large at first and small near the end, so that all workers finish together. The end is
// that of the batch that the user waits for, or else of all planned batches.
size_t Pipeline::group_size() const {
  size_t left = shared_.untaken;
  if (shared_.consumer_waits && shared_.first_open == 0) {
    left = shared_.jobs.front()->rows.size() - shared_.jobs.front()->taken;
  }
  return std::clamp<size_t>(left / (2 * workers_), 1, options_.group);
}

void Pipeline::take_from(BatchJob& job, size_t most, Group& group) {
  const size_t count = std::min(most, job.ready.size() - job.next_ready);
  if (count == 0) return;
  const bool writable = have_slot(job);
  shared_.ready -= count;
  shared_.untaken -= count;
  job.taken += count;
  for (size_t i = 0; i < count; ++i) {
    Row& row = job.rows[job.ready[job.next_ready++]];
    if (writable) {
      row.stage = Row::Stage::kProcessing;
      group.rows.push_back(&row);
      group.tasks.push_back({.entry = row.entry,
                             .framed = row.framed(),
                             .batch = &*job.batch,
                             .row = row.index,
                             .stop = shared_.unwanted.get_token()});
    } else {
      finish_row(row, nullptr);
    }
  }
}

// A batch gets its memory just before its first row is written; batches that are only being read
// need none.
bool Pipeline::have_slot(BatchJob& job) {
  if (job.batch) return true;
  try {
    job.batch.emplace(layout_, shared_.slots->take(), job.rows.size());
  } catch (...) {
    if (!job.error) job.error = std::current_exception();
  }
  return job.batch.has_value();
}

void Pipeline::hand_in(Group& group) {
  shared_.depth.processed();
  for (size_t i = 0; i < group.rows.size(); ++i) {
    Task& task = group.tasks[i];
    if (group.rows[i]->unread) {
      if (task.framed.empty()) {
        shared_.worker_reads.missed();
        return_row(*group.rows[i]);
        continue;
      }
      count_read(*group.rows[i]);
    }
    shared_.counts += task.counts;
    if (!task.error) {
      shared_.process_clock.moved(task.batch->row_bytes(task.row));
      join_rows(*group.rows[i]->job);
    }
    finish_row(*group.rows[i], std::move(task.error));
  }
  --shared_.running;
  group.rows.clear();
  group.tasks.clear();
}

// Before the last row of a batch is finished, joins the batch's rows without the lock. The batch
// cannot be returned or discarded meanwhile, because the row is not done and its group is running.
void Pipeline::join_rows(BatchJob& job) {
  if (!layout_->joined() || job.error || job.done + 1 < job.rows.size()) return;
  std::exception_ptr error;
  {
    const Pause pause(*this);
    try {
      job.batch->join();
    } catch (...) {
      error = std::current_exception();
    }
  }
  if (error && !job.error) job.error = std::move(error);
}

// Finishes a row that no worker took.
void Pipeline::drop_row(Row& row, std::exception_ptr error) {
  ++row.job->taken;
  --shared_.untaken;
  finish_row(row, std::move(error));
}

// Releases the memory of the row's record.
void Pipeline::release(Row& row) {
  clear_unread(row);
  shared_.buffers.give_back(std::move(row.buffer));
  if (!row.in_memory.empty()) shared_.buffers.let_go(row.in_memory.size());
  row.in_memory = {};
  row.extent.source.reset();
}

void Pipeline::finish_row(Row& row, std::exception_ptr error) {
  BatchJob& job = *row.job;
  release(row);
  row.located = false;
  if (error && skip(row, error)) return;
  row.stage = Row::Stage::kDone;
  ++job.done;
  if (error && row.index < job.bad_row) {
    job.bad_row = row.index;
    job.error = std::move(error);
  }
}

// Lists a bad record that the policy skips. Returns: whether the row is open again, to get a
// substitute.
bool Pipeline::skip(Row& row, const std::exception_ptr& error) {
  if (policy_.on_error != OnError::kSkip || row.hopeless || !is_skippable(error)) return false;
  BatchJob& job = *row.job;
  job.skipped.push_back({row.index, row.entry, error});
  job.bad_records.insert(row.entry.record);
  if (job.bad_records.size() > shared_.bad_records.max_bad())
    return false;  // the batch will not be returned
  row.error = error;
  return_row(row);
  return true;
}

// Returns a taken row to the fetch thread.
void Pipeline::return_row(Row& row) {
  row.stage = Row::Stage::kPlanned;
  shared_.returned.push_back(&row);
  --row.job->taken;
  ++shared_.untaken;
  const auto at = std::find_if(shared_.jobs.begin(), shared_.jobs.end(),
                               [&](const JobPointer& job) { return job.get() == row.job; });
  shared_.first_open = std::min(shared_.first_open, static_cast<size_t>(at - shared_.jobs.begin()));
}

}  // namespace fuelrail
