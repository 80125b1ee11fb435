#include "fuelrail/engine/look_ahead.h"

#include <bit>
#include <span>
#include <string>
#include <utility>

#include "fuelrail/base/error.h"

namespace fuelrail {
namespace {

constexpr size_t kCollected = 64;  // looks at a time

}  // namespace

// A look is a read of no bytes, so that what has many reads in flight has many looks in flight.
class LookAhead::Look final : public Source {
 public:
  Look(const Container& container, uint64_t record) : container_(container), record_(record) {}

  uint64_t size_bytes() const override { return 0; }
  const std::string& uri() const override { return uri_; }
  void read(uint64_t, MutableBytes) const override { extent_ = container_.extent(record_); }
  MappedBytes map() const override { return {}; }

  bool ended() const { return ended_; }
  void end(std::exception_ptr error) {
    ended_ = true;
    error_ = std::move(error);
  }
  // Requires: it has ended.
  Extent extent() {
    if (error_) std::rethrow_exception(error_);
    return std::move(extent_);
  }

 private:
  const Container& container_;
  const uint64_t record_;
  mutable Extent extent_;  // a thread's of the queue until the look has ended
  bool ended_ = false;
  std::exception_ptr error_;
  std::string uri_;
};

LookAhead::LookAhead(std::shared_ptr<const Container> container, int threads)
    : container_(std::move(container)),
      completions_(kCollected),
      queue_(make_read_queue({.threads = threads, .backend = ReadBackend::kPread})) {}

LookAhead::~LookAhead() = default;

std::optional<BatchPlan> LookAhead::next_plan(Sampler& sampler, size_t ahead) {
  while (may_plan(sampler, ahead)) plan_one(sampler);
  Planned planned = std::move(plans_.front());
  plans_.pop_front();
  if (planned.error) std::rethrow_exception(planned.error);
  return std::move(planned.plan);
}

bool LookAhead::may_plan(const Sampler& sampler, size_t ahead) const {
  if (plans_.empty()) return true;
  if (plans_.back().is_last() || looking_ == 0 || !sampler.plans_far_ahead()) return false;
  return looks_.size() < ahead && plans_.size() < ahead;  // a batch may have no records
}

void LookAhead::plan_one(Sampler& sampler) {
  Planned& planned = plans_.emplace_back();
  try {
    planned.plan = sampler.next();
  } catch (...) {
    planned.error = std::current_exception();
  }
  if (planned.plan) look_at(planned.plan->entries);
}

void LookAhead::look_at(const std::vector<Entry>& entries) {
  const size_t before = looks_.size();
  requests_.clear();
  for (const Entry& entry : entries) {
    if (entry.record >= container_->size()) continue;
    std::unique_ptr<Look>& look = looks_.emplace_back();
    if (container_->knows_extent(entry.record)) continue;
    look = std::make_unique<Look>(*container_, entry.record);
    requests_.push_back({.source = look.get(),
                         .offset = 0,
                         .into = {},
                         .tag = std::bit_cast<uint64_t>(look.get())});
  }
  try {
    queue_->submit(requests_);
    looking_ += requests_.size();
  } catch (const IoError&) {  // no thread: then `find` looks
    for (size_t i = before; i < looks_.size(); ++i) looks_[i].reset();
  }
}

Extent LookAhead::find(uint64_t record) {
  while (!is_found()) collect(1);
  const std::unique_ptr<Look> look = std::move(looks_.front());
  looks_.pop_front();
  if (!look) return container_->extent(record);
  --looking_;
  return look->extent();
}

bool LookAhead::is_found() {
  const std::unique_ptr<Look>& next = looks_.front();
  if (next && !next->ended()) collect(0);
  return !next || next->ended();
}

void LookAhead::collect(size_t at_least) {
  const size_t count = queue_->wait(completions_, at_least);
  for (Completion& completion : std::span(completions_).first(count)) {
    std::bit_cast<Look*>(completion.tag)->end(std::exchange(completion.error, nullptr));
  }
}

void LookAhead::drop() {
  queue_->cancel();
  while (queue_->in_flight() > 0) collect(1);
  plans_.clear();
  looks_.clear();
  looking_ = 0;
}

}  // namespace fuelrail
