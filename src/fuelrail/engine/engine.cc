#include "fuelrail/engine/engine.h"

#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/engine/pipeline.h"

namespace fuelrail {
namespace {

constexpr int kMaxThreads = 1024;

// `least_read_threads`: 0 if the waiting thread may read.
OptionTable<EngineOptions> table_of(int least_read_threads) {
  return OptionTable<EngineOptions>()
      .number("threads", &EngineOptions::threads, 1, kMaxThreads,
              "number of decoding threads. Default: the number of processors that this process "
              "may use, divided by the environment variable LOCAL_WORLD_SIZE, which torchrun sets. "
              "Lightning and srun do not set this variable. If they start several processes that "
              "share the processors of a machine, set `threads`.")
      .number("prefetch", &EngineOptions::prefetch, 1, UINT16_MAX,
              "number of batches prepared ahead. Each needs its own memory.")
      .part(&EngineOptions::read, ReadOptions::table(least_read_threads));
}

// Includes the options that can only be set in C++.
const OptionTable<EngineOptions>& whole_table() {
  static const auto table =
      table_of(0)
          .number("max_read_threads", &EngineOptions::max_read_threads, 0, kMaxReadThreads, "")
          .number("group", &EngineOptions::group, 1, SIZE_MAX, "")
          .number("read_ahead_bytes", &EngineOptions::read_ahead_bytes, 0, size_t{1} << 40, "");
  return table;
}

const EngineOptions& checked(const EngineOptions& options) {
  whole_table().check(options);
  return options;
}

const ErrorPolicy& checked(const ErrorPolicy& policy) {
  check(policy);
  return policy;
}

}  // namespace

const OptionTable<EngineOptions>& EngineOptions::table() {
  static const auto table = table_of(1);
  return table;
}

Engine::Engine(std::shared_ptr<const Container> container, std::unique_ptr<Sampler> sampler,
               std::shared_ptr<const BatchLayout> layout, WorkerFactory make_worker,
               const EngineOptions& options, const ErrorPolicy& policy, const Engine* before)
    : pipeline_(std::make_unique<Pipeline>(std::move(container), std::move(sampler),
                                           std::move(layout), std::move(make_worker),
                                           checked(options), checked(policy))) {
  if (before != nullptr) pipeline_->go_on_from(before->mine());
}

Engine::~Engine() {
  // The parent's threads cannot be joined, and one of them may have held the lock, so the state is
  // leaked.
  if (pipeline_->orphaned()) static_cast<void>(pipeline_.release());
}

Pipeline& Engine::mine() const {
  if (!pipeline_->orphaned()) return *pipeline_;
  throw StateError("the engine's threads run only in the parent process",
                   {.remedy = "Create a new loader or iterator after the fork"});
}

Engine::Next Engine::next(std::chrono::milliseconds timeout) { return mine().next(timeout); }
Engine::Phase Engine::phase() const { return mine().phase(); }
void Engine::begin_epoch() { mine().begin_epoch(); }
void Engine::restart(std::unique_ptr<Sampler> sampler, BadCount count) {
  mine().restart(std::move(sampler), count);
}
Progress Engine::progress() const { return mine().progress(); }
std::vector<BadRecord> Engine::bad_records(size_t since) const { return mine().bad_records(since); }
Stats Engine::stats() const { return mine().stats(); }
void Engine::throw_stalled(double seconds) const { mine().throw_stalled(seconds); }
void Engine::stop() {
  if (!pipeline_->orphaned()) pipeline_->stop();
}

}  // namespace fuelrail
