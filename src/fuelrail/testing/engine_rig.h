// Helpers for tests of the engine: an engine over generated records, and the batches that it must
// return.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fuelrail/engine/engine.h"
#include "fuelrail/sampler/epoch_sampler.h"
#include "fuelrail/testing/hooked_container.h"
#include "fuelrail/testing/record_worker.h"

namespace fuelrail {

struct Rig {
  std::shared_ptr<const Container> container = made_records(50);
  EpochSamplerOptions sampling{.records = 50,
                               .order = {.seed = 3, .shuffle = Shuffle::kFull, .batch_size = 8}};
  RecordWorkerOptions worker{};
  // The reading depth stays at its initial value, so that the number of reads is known.
  EngineOptions engine{.threads = 2, .max_read_threads = 0};
  ErrorPolicy policy{};

  std::unique_ptr<Sampler> sampler(Progress start = {}) const {
    return std::make_unique<EpochSampler>(sampling, start);
  }
  std::shared_ptr<const BatchLayout> layout() const {
    return record_layout(sampling.order.batch_size);
  }
  std::unique_ptr<Engine> make(Progress start = {}) const {
    return make(record_worker_factory(container, worker), start);
  }
  std::unique_ptr<Engine> make(WorkerFactory workers, Progress start = {}) const {
    return std::make_unique<Engine>(container, sampler(start), layout(), std::move(workers), engine,
                                    policy);
  }
};

// The result of `next`: rows, the end of an epoch, or an error's message.
struct Said {
  std::optional<std::vector<RecordRow>> rows{};
  std::string error{};
  bool end = false;
  friend bool operator==(const Said&, const Said&) = default;
};

inline Said said_by(Engine& engine) {
  try {
    const Engine::Next next = engine.next();
    if (next.status == Engine::Status::kBatch) return {.rows = rows_of(*next.batch)};
    return {.end = next.status == Engine::Status::kEndOfEpoch};
  } catch (const std::exception& error) {
    return {.error = error.what()};
  }
}

inline std::vector<Said> all_said(Engine& engine, size_t count) {
  std::vector<Said> said;
  for (size_t i = 0; i < count; ++i) said.push_back(said_by(engine));
  return said;
}

// The entry from which row `row` is made: under `skip`, with the first record that is not bad.
inline Entry used_entry(const Rig& rig, const Sampler& sampler, const BatchPlan& plan, size_t row) {
  Entry entry = plan.entries[row];
  while (rig.policy.on_error == OnError::kSkip && rig.worker.bad.contains(entry.record)) {
    entry.record = *sampler.substitute(plan, row, ++entry.substitute);
  }
  return entry;
}

// The results that `next` must return, computed without an engine.
inline std::vector<Said> expected(const Rig& rig, size_t count, Progress start = {}) {
  std::vector<Said> said;
  const auto sampler = rig.sampler(start);
  while (said.size() < count) {
    const std::optional<BatchPlan> plan = sampler->next();
    if (!plan) {
      said.push_back({.end = true});
      continue;
    }
    Said batch{.rows = std::vector<RecordRow>{}};
    for (size_t row = 0; row < plan->entries.size(); ++row) {
      const Entry entry = used_entry(rig, *sampler, *plan, row);
      if (batch.error.empty() && rig.worker.bad.contains(entry.record)) {
        const Place place = rig.container->place(entry.record);
        CorruptError error("this record is bad");
        error.add({.path = place.path, .record = place.record, .offset = place.offset});
        batch.error = error.what();
      }
      batch.rows->push_back(expected_row(*rig.container, entry));
    }
    if (!batch.error.empty()) batch.rows.reset();
    said.push_back(std::move(batch));
    if (plan->ends_epoch && said.size() < count) said.push_back({.end = true});
  }
  return said;
}

// A sampler that calls the hook `before_next` first, which may wait or throw.
class HookedSampler final : public Sampler {
 public:
  HookedSampler(std::unique_ptr<Sampler> inner, std::function<void()> before_next)
      : inner_(std::move(inner)), before_next_(std::move(before_next)) {}
  std::optional<BatchPlan> next() override {
    before_next_();
    return inner_->next();
  }
  Progress progress() const override { return inner_->progress(); }
  std::optional<uint64_t> substitute(const BatchPlan& plan, size_t row,
                                     uint32_t attempt) const override {
    return inner_->substitute(plan, row, attempt);
  }

 private:
  std::unique_ptr<Sampler> inner_;
  std::function<void()> before_next_;
};

// Blocks threads until it is opened; it then stays open.
class Gate {
 public:
  void open() {
    {
      std::lock_guard lock(mutex_);
      open_ = true;
    }
    opened_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    opened_.wait(lock, [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
};

}  // namespace fuelrail
