#include "fuelrail/engine/engine.h"

#include <cstdint>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/engine/error_policy.h"
#include "fuelrail/engine/pipeline.h"

namespace fuelrail {
namespace {

constexpr int kMaxThreads = 1024;

// What only C++ sets.
const OptionTable<EngineOptions>& inner_table() {
  static const auto table =
      OptionTable<EngineOptions>()
          .number("max_read_threads", &EngineOptions::max_read_threads, 0, kMaxReadThreads, "")
          .number("group", &EngineOptions::group, 1, SIZE_MAX, "")
          .number("read_ahead_bytes", &EngineOptions::read_ahead_bytes, 0, size_t{1} << 40, "");
  return table;
}

const EngineOptions& checked(const EngineOptions& options) {
  EngineOptions::table().check(options);
  inner_table().check(options);
  return options;
}

const ErrorPolicy& checked(const ErrorPolicy& policy) {
  check(policy);
  return policy;
}

}  // namespace

const OptionTable<EngineOptions>& EngineOptions::table() {
  static const auto table =
      OptionTable<EngineOptions>()
          .number("threads", &EngineOptions::threads, 1, kMaxThreads,
                  "threads that decode. Default: the processors that this process may use, divided "
                  "by LOCAL_WORLD_SIZE, which torchrun sets. Lightning and srun do not set it: "
                  "where they start several processes on a machine without giving each its own "
                  "processors, give `threads`.")
          .number("prefetch", &EngineOptions::prefetch, 1, UINT16_MAX,
                  "batches made ahead, each in memory of its own.")
          .part(&EngineOptions::read, ReadOptions::table());
  return table;
}

struct Engine::Impl {
  Pipeline pipeline;

  // The pipeline, in the process that its threads belong to.
  Pipeline& mine() {
    if (!pipeline.orphaned()) return pipeline;
    throw StateError("the engine's threads belong to the parent of this process",
                     {.remedy = "Make a new loader or iterator after the fork"});
  }
};

Engine::Engine(std::shared_ptr<const Container> container, std::unique_ptr<Sampler> sampler,
               std::shared_ptr<const BatchLayout> layout, WorkerFactory make_worker,
               const EngineOptions& options, const ErrorPolicy& policy, const Engine* before)
    : impl_(new Impl{{std::move(container), std::move(sampler), std::move(layout),
                      std::move(make_worker), checked(options), checked(policy)}}) {
  if (before != nullptr) impl_->pipeline.go_on_from(before->impl_->mine());
}

Engine::~Engine() {
  // The parent's threads cannot be joined, and one of them may have held the lock: what they share
  // is left as it is.
  if (impl_->pipeline.orphaned()) static_cast<void>(impl_.release());
}

Engine::Next Engine::next(std::chrono::milliseconds timeout) { return impl_->mine().next(timeout); }

void Engine::restart(std::unique_ptr<Sampler> sampler, BadCount count) {
  impl_->mine().restart(std::move(sampler), count);
}

Progress Engine::progress() const { return impl_->mine().progress(); }

std::vector<BadRecord> Engine::bad_records(size_t since) const {
  return impl_->mine().bad_records(since);
}

Stats Engine::stats() const { return impl_->mine().stats(); }

void Engine::throw_stalled(double seconds) const { impl_->mine().throw_stalled(seconds); }

void Engine::stop() {
  if (!impl_->pipeline.orphaned()) impl_->pipeline.stop();
}

}  // namespace fuelrail
