// A batch on its way through the engine, and the rows it is made of.
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

// One row: located (extent), then read (buffer), then taken by a worker, then done. A row knows all
// that it takes to be fetched, so that one whose record was bad can be fetched again with another.
struct Row {
  enum class Stage : uint8_t { kPlanned, kReading, kRead, kProcessing, kDone };

  BatchJob* job = nullptr;
  size_t index = 0;
  Stage stage = Stage::kPlanned;  // guarded by the pipeline's lock
  Entry entry{};                  // the plan's; under `skip` a substitute's
  bool located = false;           // the extent is known, or why it is not
  bool hopeless = false;          // under `skip`: there is no substitute, or none would do
  Extent extent{};
  ReadBuffer buffer{};
  size_t begin = 0;            // of the record in `buffer`
  std::exception_ptr error{};  // why the extent is not known, or the record was skipped

  Bytes framed() const { return {buffer.data.get() + begin, static_cast<size_t>(extent.length)}; }
};

struct BatchJob {
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();

  BatchPlan plan;
  std::vector<Row> rows;      // never resized once the job is on its way
  std::vector<size_t> ready;  // rows that were read, in the order in which they came
  size_t taken = 0;           // rows that workers have taken, or that failed before
  size_t next_ready = 0;      // into `ready`
  size_t done = 0;
  bool near = false;             // workers may take its rows: it is within what is prefetched
  std::optional<Batch> batch;    // since a worker took its first row
  size_t bad_row = kNone;        // the first one that failed, in row order
  std::exception_ptr error;      // of that row; else of the sampler, or of `batch`
  std::vector<Failure> skipped;  // what `skip` has passed over, in no order
  std::unordered_set<uint64_t> bad_records;  // of those
  bool plan_failed = false;                  // the sampler gave an error instead of a plan

  void begin(BatchPlan new_plan) {
    plan = std::move(new_plan);
    rows.resize(plan.entries.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      rows[i].job = this;
      rows[i].index = i;
      rows[i].entry = plan.entries[i];
    }
  }
  // Makes the job as new; keeps its memory.
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
