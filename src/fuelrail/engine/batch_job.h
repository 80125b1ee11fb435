// A batch on its way through the engine, and its rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <optional>
#include <unordered_set>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/batch/batch.h"
#include "fuelrail/container/container.h"
#include "fuelrail/engine/bad_records.h"
#include "fuelrail/engine/read_buffers.h"
#include "fuelrail/sampler/sampler.h"

namespace fuelrail {

struct BatchJob;

// One row: located (extent), then read (buffer) or left to its worker to read, then taken by a
// worker, then done. A row has everything that is needed to fetch its record, so that a substitute
// can be fetched if the record is bad.
struct Row {
  enum class Stage : uint8_t { kPlanned, kReading, kRead, kProcessing, kDone };

  BatchJob* job = nullptr;
  size_t index = 0;
  Stage stage = Stage::kPlanned;  // under the pipeline's lock
  Entry entry{};                  // from the plan; with `skip`, maybe a substitute
  bool located = false;           // `extent` or `error` is set
  bool hopeless = false;          // with `skip`: no substitute can be used
  bool unread = false;            // left to its worker to read, without a buffer
  Extent extent{};
  ReadBuffer buffer{};
  size_t begin = 0;            // start of the record in `buffer`
  Bytes in_memory{};           // the record, if its source has it in memory; then without a buffer
  std::exception_ptr error{};  // why the extent is unknown, or why the record was skipped

  // Empty if the worker has to read the record.
  Bytes framed() const {
    if (unread) return {};
    if (!in_memory.empty()) return in_memory;
    return {buffer.data.get() + begin, static_cast<size_t>(extent.length)};
  }
};

struct BatchJob {
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();

  BatchPlan plan;
  std::vector<Row> rows;      // not resized after the job is planned
  std::vector<size_t> ready;  // rows for workers, in order of arrival
  size_t taken = 0;           // rows that workers have taken or that failed before
  size_t next_ready = 0;      // index in `ready`
  size_t done = 0;
  bool near = false;             // workers may take its rows: it is within the prefetch limit
  std::optional<Batch> batch;    // set when a worker takes its first row
  size_t bad_row = kNone;        // the first failed row, in row order
  std::exception_ptr error;      // of that row, of the sampler, or of allocating `batch`
  std::vector<Failure> skipped;  // bad records skipped, in any order
  std::unordered_set<uint64_t> bad_records;  // of `skipped`
  bool plan_failed = false;                  // the sampler threw instead of planning

  void begin(BatchPlan new_plan) {
    plan = std::move(new_plan);
    rows.resize(plan.entries.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      rows[i].job = this;
      rows[i].index = i;
      rows[i].entry = plan.entries[i];
    }
  }
  // Resets the job; keeps its memory.
  void clear() {
    rows.clear();
    ready.clear();
    skipped.clear();
    bad_records.clear();
    taken = next_ready = done = 0;
    near = false;
    batch.reset();
    bad_row = kNone;
    error = nullptr;
    plan_failed = false;
  }

  size_t waiting() const { return ready.size() - next_ready; }
  bool open() const { return taken < rows.size(); }
  bool complete() const { return done == rows.size(); }
};

}  // namespace fuelrail
