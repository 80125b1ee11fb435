#include "fuelrail/engine/look_ahead.h"

#include <algorithm>
#include <bit>
#include <span>
#include <string>
#include <utility>

#include "fuelrail/storage/read_run.h"

namespace fuelrail {
namespace {

constexpr size_t kCollected = 64;  // looks collected at a time
// Of the records that are made at once: one is being made, the other follows without a pause.
constexpr size_t kMadePerTurn = 2;

// The number of threads for looks.
int threads_for(const Container& container, int threads) {
  const size_t wanted = std::min<size_t>(kMadePerTurn * container.makes_at_once(), kMaxReadThreads);
  return std::max(threads, static_cast<int>(wanted));
}

}  // namespace

// Runs looks as reads of no bytes, so that a read queue can have many of them in flight. The offset
// is the address of the look.
class LookAhead::Looks final : public Source {
 public:
  explicit Looks(const LookAhead& ahead) : ahead_(ahead) {}

  uint64_t size_bytes() const override { return 0; }
  const std::string& uri() const override { return uri_; }
  void read(uint64_t offset, MutableBytes) const override {
    Look& look = *std::bit_cast<Look*>(offset);
    look.extent = ahead_.extent_of(look.record);
  }

 private:
  const LookAhead& ahead_;
  const std::string uri_;
};

LookAhead::LookAhead(std::shared_ptr<const Container> container, int threads,
                     std::function<void()> on_end)
    : LookAhead(container, threads == 0
                               ? nullptr
                               : make_read_queue({.threads = threads_for(*container, threads),
                                                  .backend = ReadBackend::kPread},
                                                 {.on_completion = std::move(on_end)})) {}

LookAhead::LookAhead(std::shared_ptr<const Container> container, std::unique_ptr<ReadQueue> queue)
    : container_(std::move(container)),
      source_(std::make_unique<Looks>(*this)),
      made_at_once_(queue == nullptr ? 0 : container_->makes_at_once()),
      completions_(kCollected),
      queue_(std::move(queue)) {}

LookAhead::~LookAhead() = default;

// --- plans ---------------------------------------------------------------------------------------

std::optional<BatchPlan> LookAhead::next_plan(Sampler& sampler, size_t ahead) {
  while (may_plan(sampler, ahead)) plan_one(sampler);
  Planned planned = std::move(plans_.front());
  plans_.pop_front();
  if (planned.error) std::rethrow_exception(planned.error);
  return std::move(planned.plan);
}

bool LookAhead::may_plan(const Sampler& sampler, size_t ahead) const {
  if (plans_.empty()) return true;
  if (plans_.back().is_last() || looks_.empty() || !sampler.plans_far_ahead()) return false;
  // So that records of the next batch are made while the last ones of this batch are.
  if (made_at_once_ > 0 && plans_.size() < 2) return true;
  return planned_ - found_ < ahead && plans_.size() < ahead;  // a batch may have no records
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
  const uint64_t turn = planned_;
  planned_ +=
      static_cast<uint64_t>(std::count_if(entries.begin(), entries.end(), [&](const Entry& entry) {
        return entry.record < container_->size();
      }));
  try {
    look_at_each(entries, turn);
  } catch (...) {  // no thread or no memory: `find` looks up the records itself
    while (looks_.size() > before) looks_.pop_back();
  }
}

void LookAhead::look_at_each(const std::vector<Entry>& entries, uint64_t turn) {
  requests_.clear();
  for (const Entry& entry : entries) {
    if (entry.record >= container_->size()) continue;
    if (queue_ && !container_->knows_extent(entry.record)) {
      const bool starts = made_at_once_ == 0;
      looks_.push_back({.turn = turn, .look = {.record = entry.record}, .started = starts});
      if (starts) requests_.push_back(request_for(looks_.back().look));
    }
    ++turn;
  }
  if (!requests_.empty()) queue_->submit(requests_);
}

void LookAhead::start_looks(size_t room_bytes) {
  waits_for_room_ = false;
  if (made_at_once_ == 0) return;
  while (collect(0) > 0) {
  }
  while (started_ < looks_.size() && making_ < kMadePerTurn * made_at_once_) {
    const bool alone = making_ == 0 && made_bytes_ == 0;
    const uint64_t bytes = made_bytes_ + (making_ + 1) * usual_bytes_;
    if (!alone && bytes > room_bytes) {
      waits_for_room_ = true;
      return;
    }
    start(looks_[started_]);
  }
}

// Requires: it is the first that has not started.
void LookAhead::start(PlannedLook& planned) {
  planned.started = true;
  ++started_;
  try {
    const ReadRequest request = request_for(planned.look);
    queue_->submit({&request, 1});
    planned.look.counts = true;
    ++making_;
  } catch (...) {
    planned.look.ended = true;
    planned.look.error = std::current_exception();
  }
}

// A planned look has ended.
void LookAhead::note_made(const Look& look) {
  --making_;
  made_bytes_ += look.extent.length;
  if (look.error) return;
  usual_bytes_ = std::max(look.extent.length, usual_bytes_ - usual_bytes_ / 8);
}

ReadRequest LookAhead::request_for(Look& look) const {
  const auto which = std::bit_cast<uint64_t>(&look);
  return {.source = source_.get(), .offset = which, .into = {}, .tag = which};
}

// --- records -------------------------------------------------------------------------------------

Extent LookAhead::find(uint64_t record) {
  const uint64_t turn = found_++;
  if (looks_.empty() || looks_.front().turn != turn) return extent_of(record);
  if (!looks_.front().started) start(looks_.front());
  while (!has_ended(looks_.front().look)) collect(1);
  Look look = std::move(looks_.front().look);
  looks_.pop_front();
  if (made_at_once_ > 0) {
    --started_;
    made_bytes_ -= look.extent.length;
  }
  return end(look);
}

bool LookAhead::is_found() {
  return looks_.empty() || looks_.front().turn != found_ || has_ended(looks_.front().look);
}

bool LookAhead::look_at_substitute(uint64_t key, uint64_t record) {
  if (!queue_ || container_->knows_extent(record)) return false;
  try {
    const auto at = substitutes_.insert_or_assign(key, Look{.record = record}).first;
    const ReadRequest request = request_for(at->second);
    queue_->submit({&request, 1});
    return true;
  } catch (...) {  // as in look_at
    substitutes_.erase(key);
    return false;
  }
}

bool LookAhead::is_substitute_found(uint64_t key) {
  const auto at = substitutes_.find(key);
  return at == substitutes_.end() || has_ended(at->second);
}

Extent LookAhead::find_substitute(uint64_t key, uint64_t record) {
  const auto at = substitutes_.find(key);
  if (at == substitutes_.end()) return extent_of(record);
  while (!has_ended(at->second)) collect(1);
  Look look = std::move(at->second);
  substitutes_.erase(at);
  return end(look);
}

Extent LookAhead::extent_of(uint64_t record) const {
  if (cancelled_.load(std::memory_order_relaxed)) std::rethrow_exception(cancelled({}).error);
  return container_->extent_while(record,
                                  [this] { return !given_up_.load(std::memory_order_relaxed); });
}

Extent LookAhead::end(Look& look) {
  if (look.error) std::rethrow_exception(look.error);
  return std::move(look.extent);
}

// --- looks ---------------------------------------------------------------------------------------

bool LookAhead::has_ended(const Look& look) {
  while (!look.ended && collect(0) > 0) {
  }
  return look.ended;
}

// Returns: the number of looks collected.
size_t LookAhead::collect(size_t at_least) {
  const size_t count = queue_->wait(completions_, at_least);
  for (Completion& completion : std::span(completions_).first(count)) {
    Look& look = *std::bit_cast<Look*>(completion.tag);
    look.ended = true;
    look.error = std::exchange(completion.error, nullptr);
    if (look.counts) note_made(look);
  }
  return count;
}

void LookAhead::set_threads(int threads) {
  if (queue_) queue_->set_threads(threads_for(*container_, threads));
}

void LookAhead::cancel() noexcept {
  cancelled_.store(true, std::memory_order_relaxed);
  if (queue_) queue_->cancel();
}

void LookAhead::drop() {
  if (queue_) queue_->cancel();
  while (queue_ && queue_->in_flight() > 0) collect(1);
  plans_.clear();
  looks_.clear();
  substitutes_.clear();
  planned_ = found_ = 0;
  started_ = making_ = 0;
  made_bytes_ = 0;
}

}  // namespace fuelrail
