#include "fuelrail/storage/read_queue.h"

#include <deque>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/base/guarded.h"
#include "fuelrail/base/own_process.h"
#include "fuelrail/storage/completed_reads.h"
#include "fuelrail/storage/pread_pool.h"
#include "fuelrail/storage/read_run.h"
#include "fuelrail/storage/uring/uring_reads.h"

namespace fuelrail {
namespace {

// Reads on the thread that calls `wait`.
class InlineReads {
 public:
  InlineReads(const ReadOptions& options, ReadQueueCalls calls)
      : direct_(options.direct, std::move(calls.warn)) {}

  void submit(std::span<const ReadRequest> requests) {
    const Lock hold(mutex_);
    completed_.make_room(requests.size());
    pending_.insert(pending_.end(), requests.begin(), requests.end());
    completed_.expect(requests.size());
  }

  size_t wait(std::span<Completion> into, size_t at_least) {
    const Lock hold(mutex_);
    while (!completed_.serve(at_least)) {
      const ReadRequest request = pending_.front();
      pending_.pop_front();
      completed_.add(read(request));
    }
    return completed_.take(into, at_least);
  }

  void interrupt() noexcept {
    const Lock hold(mutex_);
    completed_.interrupt();
  }

  void cancel() noexcept {
    const Lock hold(mutex_);
    completed_.add_cancelled(pending_);
    pending_.clear();
  }

  size_t in_flight() const {
    const Lock hold(mutex_);
    return completed_.in_flight();
  }

  void set_threads(int) {}
  const char* backend_name() const { return "inline"; }

 private:
  Completion read(const ReadRequest& request) FUELRAIL_REQUIRES(mutex_) {
    const Unlocked unlocked(mutex_);
    return perform(request, direct_);
  }

  DirectReads direct_;
  mutable Mutex mutex_;
  std::deque<ReadRequest> pending_ FUELRAIL_GUARDED_BY(mutex_);
  CompletedReads completed_ FUELRAIL_GUARDED_BY(mutex_);
};

// Wraps a queue implementation and remembers the process that it belongs to.
template <typename Reads>
class OneProcessReadQueue final : public ReadQueue {
 public:
  explicit OneProcessReadQueue(std::unique_ptr<Reads> reads) : reads_(std::move(reads)) {}

  ~OneProcessReadQueue() override {
    // In a forked child the threads do not exist, and the lock may be held forever.
    if (process_.is_parents()) static_cast<void>(reads_.release());
  }

  void submit(std::span<const ReadRequest> requests) override { mine().submit(requests); }
  size_t wait(std::span<Completion> into, size_t at_least) override {
    return mine().wait(into, at_least);
  }
  void interrupt() noexcept override {
    if (!process_.is_parents()) reads_->interrupt();
  }
  void cancel() noexcept override {
    if (!process_.is_parents()) reads_->cancel();
  }
  size_t in_flight() const override { return mine().in_flight(); }
  void set_threads(int threads) override { mine().set_threads(threads); }
  const char* backend_name() const override { return mine().backend_name(); }

 private:
  Reads& mine() const {
    if (!process_.is_parents()) return *reads_;
    throw StateError("the read queue belongs to the parent process",
                     {.remedy = "Create a new queue after the fork"});
  }

  const OwnProcess process_;
  std::unique_ptr<Reads> reads_;
};

template <typename Reads>
std::unique_ptr<ReadQueue> in_this_process(std::unique_ptr<Reads> reads) {
  return std::make_unique<OneProcessReadQueue<Reads>>(std::move(reads));
}

}  // namespace

std::unique_ptr<ReadQueue> make_read_queue(const ReadOptions& options, ReadQueueCalls calls) {
  ReadOptions::table().check(options);
  if (calls.on_completion && options.backend != ReadBackend::kPread) {
    throw InvalidArgumentError("`on_completion` does not work with this read backend",
                               {.expected = "ReadBackend::kPread"});
  }
  if (options.threads == 0) {
    if (options.backend == ReadBackend::kIoUring) {
      throw InvalidArgumentError("`read_threads` is out of range for io_uring",
                                 {.expected = "at least 1", .found = "0"});
    }
    return in_this_process(std::make_unique<InlineReads>(options, std::move(calls)));
  }
  if (options.backend != ReadBackend::kPread) {
    std::string refusal;
    if (auto reads = uring::UringReads::make(options, calls, refusal)) {
      return in_this_process(std::move(reads));
    }
    if (options.backend == ReadBackend::kIoUring) {
      throw UnsupportedError("io_uring is not available",
                             {.found = refusal, .remedy = "Set `read_backend` to \"auto\""});
    }
  }
  return in_this_process(std::make_unique<PreadPool>(options, std::move(calls)));
}

std::string io_uring_refusal() {
  std::string refusal;
  static_cast<void>(uring::Ring::open(1, refusal));
  return refusal;
}

}  // namespace fuelrail
