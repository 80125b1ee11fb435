#include "fuelrail/storage/read_batch.h"

#include <algorithm>
#include <array>
#include <optional>
#include <thread>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/base/native_thread.h"
#include "fuelrail/storage/at_hand.h"
#include "fuelrail/storage/read_queue_pool.h"
#include "fuelrail/storage/read_run.h"

namespace fuelrail {
namespace {

class BatchRead {
 public:
  explicit BatchRead(const ReadOptions& options) : options_(options), direct_(options.direct, {}) {}

  std::vector<Completion> read(std::span<const ReadRequest> requests) {
    const std::vector<ReadRequest> sorted = in_order_of_place(requests);
    for (std::span<const ReadRequest> left = sorted; !left.empty();) {
      const bool direct = direct_.wanted_for(left.front());
      const std::span run = left.first(direct ? 1 : run_length(left.begin(), left.end()));
      left = left.subspan(run.size());
      if (!direct && read_if_cached(run)) {
        for (const ReadRequest& request : run) note(checked(request));
      } else {
        OnlyAtHand::check();
        if (left.empty() && !lease_) {
          read_here(run);  // the last run: this thread has nothing else to do
        } else {
          submit(run);
        }
      }
    }
    if (lease_ && lease_->queue() != nullptr) collect(*lease_->queue());
    return std::move(failed_);
  }

 private:
  void note(Completion&& completion) {
    if (completion.error) failed_.push_back(std::move(completion));
  }

  bool read_if_cached(std::span<const ReadRequest> run) {
    const ReadRequest& first = run.front();
    if (run.size() == 1) return first.source->read_if_cached(first.offset, {&first.into, 1});
    run_.assign(run.begin(), run.end());
    return first.source->read_if_cached(first.offset, run_.pieces);
  }

  void read_here(std::span<const ReadRequest> run) {
    done_.clear();
    run_.assign(run.begin(), run.end());
    perform(run_, direct_, done_);
    for (Completion& completion : done_) note(std::move(completion));
  }

  void submit(std::span<const ReadRequest> run) {
    if (!lease_) lease_.emplace(options_);
    ReadQueue* const queue = lease_->queue();
    if (queue == nullptr) return read_here(run);
    try {
      queue->submit(run);
    } catch (const IoError&) {  // the queue cannot start a thread
      read_here(run);
    }
  }

  void collect(ReadQueue& queue) {
    std::array<Completion, 64> done;
    while (queue.in_flight() > 0) {
      const size_t at_least = std::min(done.size(), queue.in_flight());
      const size_t count = queue.wait(done, at_least);
      for (Completion& completion : std::span(done).first(count)) note(std::move(completion));
    }
  }

  const ReadOptions& options_;
  DirectReads direct_;
  ReadRun run_;
  std::vector<Completion> done_;
  std::vector<Completion> failed_;
  std::optional<QueueLease> lease_;  // destroyed first: ends the reads in flight
};

// Avoids the lists that several requests need.
std::vector<Completion> read_one(const ReadRequest& request, bool direct) {
  DirectReads reads(direct, {});
  const MutableBytes piece = request.into;
  const bool cached =
      !reads.wanted_for(request) && request.source->read_if_cached(request.offset, {&piece, 1});
  if (!cached) OnlyAtHand::check();
  std::vector<Completion> failed;
  Completion completion = cached ? checked(request) : perform(request, reads);
  if (completion.error) failed.push_back(std::move(completion));
  return failed;
}

}  // namespace

std::vector<Completion> read_batch(std::span<const ReadRequest> requests,
                                   const ReadOptions& options) {
  if (requests.size() == 1) return read_one(requests.front(), options.direct);
  return BatchRead(options).read(requests);
}

namespace {

// Reads each request on its own thread, the first one on the calling thread. Requires: at least one
// request.
void read_by_threads(std::span<const ReadRequest> requests, std::vector<Completion>& failed) {
  std::vector<std::exception_ptr> errors(requests.size());
  const auto read = [&](size_t i) {
    try {
      requests[i].source->read(requests[i].offset, requests[i].into);
    } catch (...) {
      errors[i] = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(requests.size());
  for (size_t i = 1; i < requests.size(); ++i) {
    try {
      threads.push_back(start_native_thread("fr-open", [&read, i] { read(i); }));
    } catch (...) {  // no thread could be started
      read(i);
    }
  }
  read(0);
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < requests.size(); ++i) {
    if (errors[i]) failed.push_back({requests[i].tag, errors[i]});
  }
}

}  // namespace

std::vector<Completion> read_at_once(std::span<const ReadRequest> requests) {
  constexpr size_t kThreads = 16;
  std::vector<ReadRequest> slow;
  for (const ReadRequest& request : requests) {
    if (!request.source->read_if_cached(request.offset, {&request.into, 1})) {
      slow.push_back(request);
    }
  }
  std::vector<Completion> failed;
  for (std::span<const ReadRequest> left = slow; !left.empty();) {
    const size_t count = std::min(kThreads, left.size());
    read_by_threads(left.first(count), failed);
    left = left.subspan(count);
  }
  return failed;
}

void read_all(std::span<const ReadRequest> requests) {
  const std::vector<Completion> failed = read_at_once(requests);
  if (!failed.empty()) std::rethrow_exception(failed.front().error);
}

}  // namespace fuelrail
