#include "fuelrail/storage/uring/uring_reads.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <thread>
#include <utility>

#include "fuelrail/base/error.h"

namespace fuelrail::uring {
namespace {

constexpr uint64_t kBellTag = std::numeric_limits<uint64_t>::max();

// One read of the kernel's gives at most 2 GiB less a page.
constexpr size_t kMaxKernelRead = size_t{1} << 30;

}  // namespace

std::unique_ptr<UringReads> UringReads::make(const ReadQueueOptions& options, std::string& refusal,
                                             AlterResult alter_result) {
  std::unique_ptr<Ring> ring = Ring::open(kMaxReadThreads + 1, refusal);  // and the bell
  if (!ring) return nullptr;
  local::Descriptor bell(::eventfd(0, EFD_CLOEXEC));
  if (!bell.valid()) {
    refusal = "no eventfd: " + local::words_of(errno);
    return nullptr;
  }
  return std::unique_ptr<UringReads>(
      new UringReads(options, std::move(ring), std::move(bell), std::move(alter_result)));
}

UringReads::UringReads(const ReadQueueOptions& options, std::unique_ptr<Ring> ring,
                       local::Descriptor bell, AlterResult alter_result)
    : alter_result_(std::move(alter_result)),
      direct_(options.direct, options.warn),
      ring_(std::move(ring)),
      bell_(std::move(bell)),
      bell_piece_{&bell_count_, sizeof bell_count_},
      threads_(static_cast<size_t>(options.threads), direct_,
               [this](std::span<Completion> completions) { deliver(completions); }) {
  let_kernel_read(options.threads);
}

// The kernel writes into the callers' memory until it says that it has done so.
UringReads::~UringReads() {
  cancel();
  std::unique_lock hold(mutex_);
  if (bell_armed_) ring_bell();
  while (free_.size() < reads_.size() || bell_armed_) {
    all_started_ = ring_->submit();
    reap();
    if (free_.size() == reads_.size() && !bell_armed_) break;
    if (all_started_) {
      ring_->await();
    } else {
      std::this_thread::yield();
    }
  }
}

void UringReads::submit(std::span<const ReadRequest> requests) {
  std::lock_guard hold(mutex_);
  handed_over_.clear();
  const size_t before = pending_.size();
  for (const ReadRequest& request : requests) {
    const bool by_kernel = request.source->descriptor() >= 0 &&
                           request.source->reads_without_waiting() && !request.into.empty() &&
                           request.into.size() <= kMaxKernelRead && lies_within(request);
    if (by_kernel) {
      pending_.push_back(request);
    } else {
      handed_over_.push_back(request);
    }
  }
  try {
    threads_.start(handed_over_);
  } catch (...) {
    pending_.resize(before);
    throw;
  }
  in_flight_ += requests.size();
  sort_by_place(pending_, pending_.begin() + static_cast<ptrdiff_t>(before));
  issue();
}

size_t UringReads::wait(std::span<Completion> into, size_t at_least) {
  std::unique_lock hold(mutex_);
  while (true) {
    reap();
    issue();
    if (served(at_least)) break;
    if (!unchecked_.empty()) {
      check_one(hold);
      continue;
    }
    if (!all_started_) {
      hold.unlock();
      std::this_thread::yield();  // until the kernel has the means again
      hold.lock();
      continue;
    }
    arm_bell();
    if (!all_started_) continue;
    wanted_ = at_least;
    hold.unlock();
    ring_->await();
    hold.lock();
    wanted_ = 0;
  }
  const size_t count = take_completions(done_, into);
  in_flight_ -= count;
  return count;
}

void UringReads::cancel() {
  std::lock_guard hold(mutex_);
  for (const ReadRequest& request : threads_.take_pending()) done_.push_back(cancelled(request));
  for (const ReadRequest& request : pending_) done_.push_back(cancelled(request));
  pending_.clear();
  if (wanted_ > 0 && served(wanted_)) ring_bell();
}

size_t UringReads::in_flight() const {
  std::lock_guard hold(mutex_);
  return in_flight_;
}

void UringReads::set_threads(int threads) {
  threads_.set_at_once(static_cast<size_t>(threads));
  std::lock_guard hold(mutex_);
  let_kernel_read(threads);
  issue();
}

// Reads that wait in the kernel without a thread cost nothing there, so the ring takes kRingDepth
// of them in any case.
void UringReads::let_kernel_read(int at_once) {
  ring_->set_workers(static_cast<unsigned>(at_once));
  kernel_reads_at_once_ = static_cast<size_t>(std::max(at_once, kRingDepth));
  while (reads_.size() < kernel_reads_at_once_) {
    free_.push_back(reads_.size());
    reads_.emplace_back();
  }
}

bool UringReads::may_start() {
  return !pending_.empty() && reads_.size() - free_.size() < kernel_reads_at_once_ &&
         ring_->has_room();
}

// Starts as many reads as the ring is to take.
void UringReads::issue() {
  while (may_start()) {
    const size_t slot = free_.back();
    free_.pop_back();
    reads_[slot].run.take_from(pending_, direct_.wanted_for(pending_.front()));
    prepare(slot);
  }
  all_started_ = ring_->submit();
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
        unchecked_.push_back(request);
      } else {
        done_.push_back({request.tag, nullptr});
      }
    }
    return;
  }
  if (read.direct && value < 0) direct_.read_failed(*read.run.requests.front().source, -value);
  read_by_threads(read.run.requests);
}

// By the thread that waits, which lets others submit meanwhile.
void UringReads::check_one(std::unique_lock<std::mutex>& hold) {
  const ReadRequest request = unchecked_.front();
  unchecked_.pop_front();
  hold.unlock();
  Completion completion = checked(request);
  hold.lock();
  done_.push_back(std::move(completion));
}

// An error, a short read, one that a signal or the end of the submitting thread has ended: read
// again.
void UringReads::read_by_threads(std::span<const ReadRequest> requests) {
  try {
    threads_.start(requests);
  } catch (const Error&) {  // no thread: then here
    for (const ReadRequest& request : requests) done_.push_back(perform(request, direct_));
  }
}

void UringReads::deliver(std::span<Completion> completions) {
  std::lock_guard hold(mutex_);
  std::move(completions.begin(), completions.end(), std::back_inserter(done_));
  if (wanted_ > 0 && served(wanted_)) ring_bell();
}

void UringReads::arm_bell() {
  if (bell_armed_) return;
  bell_armed_ = true;
  ring_->prepare(bell_.get(), 0, {&bell_piece_, 1}, kBellTag);
  all_started_ = ring_->submit();
}

void UringReads::ring_bell() const {
  const uint64_t one = 1;
  while (::write(bell_.get(), &one, sizeof one) < 0 && errno == EINTR) {
  }
}

}  // namespace fuelrail::uring
