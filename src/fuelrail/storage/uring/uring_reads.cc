#include "fuelrail/storage/uring/uring_reads.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>
#include <new>
#include <thread>
#include <utility>

namespace fuelrail::uring {
namespace {

constexpr uint64_t kBellTag = std::numeric_limits<uint64_t>::max();

// The kernel reads at most 2 GiB minus a page at once.
constexpr size_t kMaxKernelRead = size_t{1} << 30;

}  // namespace

std::unique_ptr<UringReads> UringReads::make(const ReadOptions& options,
                                             const ReadQueueCalls& calls, std::string& refusal,
                                             AlterResult alter_result,
                                             Ring::RefuseEnter refuse_enter) {
  std::unique_ptr<Ring> ring =
      Ring::open(kMaxReadThreads + 1, refusal, std::move(refuse_enter));  // one more for the bell
  if (!ring) return nullptr;
  local::Descriptor bell(::eventfd(0, EFD_CLOEXEC));
  if (!bell.valid()) {
    refusal = "cannot create an eventfd: " + local::words_of(errno);
    return nullptr;
  }
  return std::unique_ptr<UringReads>(
      new UringReads(options, calls, std::move(ring), std::move(bell), std::move(alter_result)));
}

UringReads::UringReads(const ReadOptions& options, const ReadQueueCalls& calls,
                       std::unique_ptr<Ring> ring, local::Descriptor bell, AlterResult alter_result)
    : alter_result_(std::move(alter_result)),
      direct_(options.direct, calls.warn),
      ring_(std::move(ring)),
      bell_(std::move(bell)),
      bell_piece_{&bell_count_, sizeof bell_count_},
      threads_(static_cast<size_t>(options.threads), direct_,
               [this](std::span<Completion> completions) { deliver(completions); }) {
  let_kernel_read(options.threads);
}

// Waits for the kernel's reads: until they complete, the kernel writes into the callers' memory.
UringReads::~UringReads() {
  const Lock hold(mutex_);
  pending_.clear();
  if (bell_armed_) ring_bell();
  while (true) {
    issue();
    reap();
    if (!kernel_is_at_work()) break;
    if (all_started_ && !ring_->closed()) {
      ring_->await();
    } else {
      const Unlocked unlocked(mutex_);
      std::this_thread::yield();
    }
  }
}

void UringReads::submit(std::span<const ReadRequest> requests) {
  const std::vector<ReadRequest> sorted = in_order_of_place(requests);
  const Lock hold(mutex_);
  handed_over_.clear();
  completed_.make_room(requests.size());
  unchecked_.reserve(completed_.in_flight() + requests.size());
  const size_t before = pending_.size();
  try {
    for (const ReadRequest& request : sorted) {
      if (may_be_kernels(request)) {
        pending_.push_back(request);
      } else {
        handed_over_.push_back(request);
      }
    }
    threads_.start(handed_over_);
  } catch (...) {
    pending_.resize(before);
    throw;
  }
  completed_.expect(requests.size());
  issue();
  wake_if_due();
}

size_t UringReads::wait(std::span<Completion> into, size_t at_least) {
  const Lock hold(mutex_);
  while (true) {
    reap();
    issue();
    if (completed_.serve(at_least)) {
      if (at_least == 0 && completed_.empty() && !unchecked_.empty()) check_one();
      break;
    }
    if (!unchecked_.empty()) {
      check_one();
      continue;
    }
    if (!all_started_) {
      const Unlocked unlocked(mutex_);
      std::this_thread::yield();  // until the kernel has resources again
      continue;
    }
    sleep(at_least);
  }
  return completed_.take(into, at_least);
}

void UringReads::interrupt() noexcept {
  const Lock hold(mutex_);
  completed_.interrupt();
  wake_if_due();
}

void UringReads::cancel() noexcept {
  const Lock hold(mutex_);
  threads_.take_pending(cancelled_);
  completed_.add_cancelled(cancelled_);
  cancelled_.clear();
  completed_.add_cancelled(pending_);
  pending_.clear();
  wake_if_due();
}

size_t UringReads::in_flight() const {
  const Lock hold(mutex_);
  return completed_.in_flight();
}

void UringReads::set_threads(int threads) {
  threads_.set_at_once(static_cast<size_t>(threads));
  const Lock hold(mutex_);
  try {
    let_kernel_read(threads);
  } catch (const std::bad_alloc&) {  // continue with the existing slots
  }
  issue();
  wake_if_due();
}

const char* UringReads::backend_name() const {
  const Lock hold(mutex_);
  if (by_threads_ == 0) return "io_uring";
  return by_kernel_ == 0 ? "pread" : "io_uring and pread";
}

bool UringReads::may_be_kernels(const ReadRequest& request) const {
  return !ring_->closed() && request.source->descriptor() >= 0 &&
         request.source->reads_without_waiting() && !request.into.empty() &&
         request.into.size() <= kMaxKernelRead && lies_within(request);
}

// Reads that wait in the kernel without a thread cost nothing, so the ring always takes kRingDepth
// of them.
void UringReads::let_kernel_read(int at_once) {
  ring_->set_workers(static_cast<unsigned>(at_once));
  const auto wanted = static_cast<size_t>(std::max(at_once, kRingDepth));
  free_.reserve(wanted);
  while (reads_.size() < wanted) {
    reads_.emplace_back();
    free_.push_back(reads_.size() - 1);  // after emplace_back has succeeded
  }
  kernel_reads_at_once_ = wanted;
}

bool UringReads::may_start() {
  return !pending_.empty() && !ring_->closed() &&
         reads_.size() - free_.size() < kernel_reads_at_once_ && ring_->has_room();
}

// Returns: false if there is no memory for it now.
bool UringReads::start_one() {
  const size_t slot = free_.back();
  Read& read = reads_[slot];
  try {
    read.pieces.reserve(2 * kMaxRunRequests);
    read.run.take_from(pending_, direct_.wanted_for(pending_.front()));
  } catch (const std::bad_alloc&) {
    return false;
  }
  free_.pop_back();
  prepare(slot);
  return true;
}

// Starts as many reads as the ring may take.
void UringReads::issue() {
  bool all = true;
  while (all && may_start()) all = start_one();
  all_started_ = ring_->submit() && all;
  if (ring_->closed()) give_up_ring();
}

// The ring is closed: threads read all requests that the kernel has not started.
void UringReads::give_up_ring() {
  while (const auto tag = ring_->take_back()) {
    if (*tag == kBellTag) {
      bell_armed_ = false;
    } else {
      free_.push_back(*tag);
      read_by_threads(reads_[*tag].run.requests);
    }
  }
  try {
    handed_over_.assign(pending_.begin(), pending_.end());
  } catch (const std::bad_alloc&) {  // the next call tries again
    all_started_ = false;
    return;
  }
  pending_.clear();
  read_by_threads(handed_over_);
  all_started_ = true;
}

void UringReads::prepare(size_t slot) {
  Read& read = reads_[slot];
  const ReadRequest& first = read.run.requests.front();
  read.pieces.clear();
  read.bytes = 0;
  const bool alone = read.run.requests.size() == 1;
  const auto direct = alone ? direct_.span_of(first) : std::nullopt;
  read.direct = direct.has_value();
  if (direct) {
    read.pieces.push_back({direct->into.data(), direct->into.size()});
    read.bytes = direct->needed;
    ring_->prepare(direct->descriptor, direct->offset, read.pieces, slot);
    return;
  }
  for (const MutableBytes piece : read.run.pieces) {
    read.pieces.push_back({piece.data(), piece.size()});
    read.bytes += piece.size();
  }
  ring_->prepare(first.source->descriptor(), read.run.offset(), read.pieces, slot);
}

void UringReads::reap() {
  while (const auto result = ring_->result()) {
    if (result->tag == kBellTag) {
      bell_armed_ = false;
    } else {
      finish(result->tag, alter_result_ ? alter_result_(result->value) : result->value);
    }
  }
}

void UringReads::finish(size_t slot, int32_t value) {
  Read& read = reads_[slot];
  free_.push_back(slot);
  if (value >= 0 && static_cast<size_t>(value) >= read.bytes) {
    for (const ReadRequest& request : read.run.requests) {
      if (request.crc) {
        unchecked_.push(request);
      } else {
        completed_.add({request.tag, nullptr});
      }
    }
    by_kernel_ += read.run.requests.size();
    return;
  }
  if (read.direct && value < 0) direct_.read_failed(*read.run.requests.front().source, -value);
  read_by_threads(read.run.requests);
}

// Runs on the thread that calls `wait`, without the lock, so that other threads can submit at the
// same time.
void UringReads::check_one() {
  const ReadRequest request = unchecked_.pop();
  Completion completion;
  {
    const Unlocked unlocked(mutex_);
    completion = checked(request);
  }
  completed_.add(std::move(completion));
}

// Reads again after an error, a short read, or a read that was ended by a signal or by the end of
// the submitting thread.
void UringReads::read_by_threads(std::span<const ReadRequest> requests) {
  try {
    threads_.start(requests);
  } catch (const std::exception&) {  // no thread could be started: read here
    for (const ReadRequest& request : requests) completed_.add(perform(request, direct_));
    by_threads_ += requests.size();
  }
}

void UringReads::deliver(std::span<Completion> completions) {
  const Lock hold(mutex_);
  completed_.add(completions);
  by_threads_ += completions.size();
  wake_if_due();
}

// Sleeps until `wake_if_due` wakes it or a read in the kernel completes. May return earlier.
void UringReads::sleep(size_t at_least) {
  if (!ring_->closed()) arm_bell();
  if (!all_started_) return;
  wanted_ = at_least;
  if (!ring_->closed()) {
    const Unlocked unlocked(mutex_);
    ring_->await();
  } else if (kernel_is_at_work()) {
    woken_.wait_until(mutex_, std::chrono::steady_clock::now() + std::chrono::milliseconds(1));
  } else {
    while (!may_wake()) woken_.wait(mutex_);
  }
  wanted_ = 0;
}

void UringReads::arm_bell() {
  if (bell_armed_) return;
  bell_armed_ = true;
  ring_->prepare(bell_.get(), 0, {&bell_piece_, 1}, kBellTag);
  issue();
}

void UringReads::wake_if_due() {
  if (wanted_ == 0 || !may_wake()) return;
  if (ring_->closed()) woken_.notify_one();
  ring_bell();
}

void UringReads::ring_bell() const {
  const uint64_t one = 1;
  while (::write(bell_.get(), &one, sizeof one) < 0 && errno == EINTR) {
  }
}

}  // namespace fuelrail::uring
