#include "fuelrail/engine/engine.h"

#include <string>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/engine/error_policy.h"
#include "fuelrail/engine/pipeline.h"

namespace fuelrail {
namespace {

constexpr int kMaxThreads = 1024;
constexpr size_t kMaxReadAhead = size_t{1} << 40;

void check(bool good, const char* option, const std::string& expected, const std::string& found) {
  if (!good) {
    throw InvalidArgumentError(std::string("the engine's option '") + option + "' is out of range",
                               {.expected = expected, .found = found});
  }
}

const EngineOptions& checked(const EngineOptions& options) {
  const auto in_range = [](int threads) { return threads >= 0 && threads <= kMaxThreads; };
  const std::string range = "0 to " + std::to_string(kMaxThreads);
  check(in_range(options.threads), "threads", range, std::to_string(options.threads));
  check(in_range(options.read.threads), "read_threads", range,
        std::to_string(options.read.threads));
  check(in_range(options.max_read_threads), "max_read_threads", range,
        std::to_string(options.max_read_threads));
  check(options.prefetch > 0, "prefetch", "1 or more", "0");
  check(options.group > 0, "group", "1 or more", "0");
  check(options.read_ahead_bytes <= kMaxReadAhead, "read_ahead_bytes",
        "at most " + std::to_string(kMaxReadAhead), std::to_string(options.read_ahead_bytes));
  return options;
}

const ErrorPolicy& checked(const ErrorPolicy& policy) {
  check(policy);
  return policy;
}

}  // namespace

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
