#include "fuelrail/storage/read_queue.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/base/native_thread.h"

namespace fuelrail {
namespace {

// Reads. Returns: the completion; the error has left its handler, so that no thread but the one
// that takes the completion holds it.
Completion perform(const ReadRequest& request) {
  Completion done{request.tag, nullptr};
  try {
    request.source->read(request.offset, request.into);
  } catch (...) {
    done.error = std::current_exception();
  }
  return done;
}

Completion cancelled(const ReadRequest& request) {
  return {request.tag, std::make_exception_ptr(StateError("cancelled"))};
}

// Moves as many completions as fit from the front of `done` to `into`.
size_t take(std::deque<Completion>& done, std::span<Completion> into) {
  const size_t count = std::min(done.size(), into.size());
  for (size_t i = 0; i < count; ++i) {
    into[i] = std::move(done.front());
    done.pop_front();
  }
  return count;
}

// Reads in the thread that waits.
class InlineReads {
 public:
  void submit(std::span<const ReadRequest> requests) {
    std::lock_guard hold(mutex_);
    pending_.insert(pending_.end(), requests.begin(), requests.end());
    in_flight_ += requests.size();
  }

  size_t wait(std::span<Completion> into, size_t at_least) {
    std::unique_lock hold(mutex_);
    size_t count = take(done_, into);
    while (count < at_least && !pending_.empty()) {
      const ReadRequest request = pending_.front();
      pending_.pop_front();
      hold.unlock();
      into[count++] = perform(request);
      hold.lock();
      count += take(done_, into.subspan(count));  // cancelled in the meantime
    }
    in_flight_ -= count;
    return count;
  }

  void cancel() {
    std::lock_guard hold(mutex_);
    for (const ReadRequest& request : pending_) done_.push_back(cancelled(request));
    pending_.clear();
  }

  size_t in_flight() const {
    std::lock_guard hold(mutex_);
    return in_flight_;
  }

 private:
  mutable std::mutex mutex_;
  std::deque<ReadRequest> pending_;
  std::deque<Completion> done_;  // cancelled ones
  size_t in_flight_ = 0;
};

// Threads that call Source::read. One lock guards everything and is taken once a request: a thread
// hands in what it has read and takes its next request under it. Nobody is woken who has nothing to
// do: a submission wakes as many idle threads as it has requests, and the waiter is woken once,
// when what it waits for is complete.
class PreadPool {
 public:
  explicit PreadPool(size_t max_threads) : max_threads_(max_threads) {}

  ~PreadPool() {
    cancel();
    {
      std::lock_guard hold(mutex_);
      stopping_ = true;
    }
    work_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  PreadPool(const PreadPool&) = delete;
  PreadPool& operator=(const PreadPool&) = delete;

  void submit(std::span<const ReadRequest> requests) {
    if (requests.empty()) return;
    size_t to_wake = 0;
    {
      std::lock_guard hold(mutex_);
      start_threads(pending_.size() + requests.size());
      pending_.insert(pending_.end(), requests.begin(), requests.end());
      in_flight_ += requests.size();
      to_wake = std::min(idle_, requests.size());
    }
    for (size_t i = 0; i < to_wake; ++i) work_.notify_one();
  }

  size_t wait(std::span<Completion> into, size_t at_least) {
    std::unique_lock hold(mutex_);
    wanted_ = at_least;
    complete_.wait(hold, [this] { return waiter_is_served(); });
    wanted_ = 0;
    const size_t count = take(done_, into);
    in_flight_ -= count;
    return count;
  }

  void cancel() {
    {
      std::lock_guard hold(mutex_);
      for (const ReadRequest& request : pending_) done_.push_back(cancelled(request));
      pending_.clear();
    }
    complete_.notify_one();
  }

  size_t in_flight() const {
    std::lock_guard hold(mutex_);
    return in_flight_;
  }

 private:
  bool waiter_is_served() const { return done_.size() >= std::min(wanted_, in_flight_); }

  // Grows to one thread a waiting request, up to the maximum.
  void start_threads(size_t requests) {
    const size_t target = std::min(max_threads_, requests + threads_.size() - idle_);
    while (threads_.size() < target) {
      try {
        threads_.push_back(start_native_thread("fuelrail-read", [this] { run(); }));
      } catch (const IoError&) {
        if (threads_.empty()) throw;
        return;  // fewer have to do
      }
    }
  }

  void run() {
    std::unique_lock hold(mutex_);
    while (next_request(hold)) {
      const ReadRequest request = pending_.front();
      pending_.pop_front();
      hold.unlock();
      Completion done = perform(request);
      hold.lock();
      done_.push_back(std::move(done));
      if (wanted_ > 0 && waiter_is_served()) complete_.notify_one();
    }
  }

  // Waits for a request. Returns: false when the pool ends.
  bool next_request(std::unique_lock<std::mutex>& hold) {
    while (pending_.empty() && !stopping_) {
      ++idle_;
      work_.wait(hold);
      --idle_;
    }
    return !pending_.empty();
  }

  const size_t max_threads_;
  mutable std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable complete_;
  std::deque<ReadRequest> pending_;
  std::deque<Completion> done_;
  size_t in_flight_ = 0;
  size_t wanted_ = 0;  // what `wait` is waiting for; 0 = nobody waits
  size_t idle_ = 0;    // threads waiting for work
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

// What reads, and the process that it belongs to.
template <typename Reads>
class OneProcessReadQueue final : public ReadQueue {
 public:
  explicit OneProcessReadQueue(std::unique_ptr<Reads> reads)
      : process_(::getpid()), reads_(std::move(reads)) {}

  ~OneProcessReadQueue() override {
    // In a forked child there is no thread to join, and the lock may be held for ever.
    if (::getpid() != process_) static_cast<void>(reads_.release());
  }

  void submit(std::span<const ReadRequest> requests) override { mine().submit(requests); }
  size_t wait(std::span<Completion> into, size_t at_least) override {
    return mine().wait(into, at_least);
  }
  void cancel() override { mine().cancel(); }
  size_t in_flight() const override { return mine().in_flight(); }

 private:
  Reads& mine() const {
    if (::getpid() == process_) return *reads_;
    throw StateError("the read queue belongs to the parent of this process",
                     {.remedy = "Make a new one after the fork"});
  }

  const pid_t process_;
  std::unique_ptr<Reads> reads_;
};

template <typename Reads>
std::unique_ptr<ReadQueue> in_this_process(std::unique_ptr<Reads> reads) {
  return std::make_unique<OneProcessReadQueue<Reads>>(std::move(reads));
}

}  // namespace

std::unique_ptr<ReadQueue> make_read_queue(const ReadQueueOptions& options) {
  if (options.threads < 0 || options.threads > kMaxReadThreads) {
    throw InvalidArgumentError("the number of reading threads is wrong",
                               {.expected = fmt::format("0 to {}", kMaxReadThreads),
                                .found = fmt::format("{}", options.threads)});
  }
  if (options.threads == 0) return in_this_process(std::make_unique<InlineReads>());
  return in_this_process(std::make_unique<PreadPool>(static_cast<size_t>(options.threads)));
}

}  // namespace fuelrail
