#include "fuelrail/storage/read_batch.h"

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/storage/read_queue_pool.h"
#include "fuelrail/storage/read_run.h"

namespace fuelrail {
namespace {

class BatchRead {
 public:
  explicit BatchRead(const BatchReadOptions& options)
      : options_(options), direct_(options.direct, {}) {}

  std::vector<Completion> read(std::span<const ReadRequest> requests) {
    std::deque<ReadRequest> pending(requests.begin(), requests.end());
    sort_by_place(pending, pending.begin());
    while (!pending.empty()) {
      const bool direct = direct_.wanted_for(pending.front());
      run_.take_from(pending, direct);
      if (!direct && run_.requests.front().source->read_if_cached(run_.offset(), run_.pieces)) {
        for (const ReadRequest& request : run_.requests) note(checked(request));
      } else if (pending.empty() && !lease_) {
        read_here();  // there is nothing to do meanwhile
      } else {
        submit();
      }
    }
    if (lease_ && lease_->queue() != nullptr) collect(*lease_->queue());
    return std::move(failed_);
  }

 private:
  void note(Completion&& completion) {
    if (completion.error) failed_.push_back(std::move(completion));
  }

  void read_here() {
    done_.clear();
    perform(run_, direct_, done_);
    for (Completion& completion : done_) note(std::move(completion));
  }

  void submit() {
    if (!lease_) {
      lease_.emplace(ReadQueueOptions{
          .threads = options_.threads, .backend = options_.backend, .direct = options_.direct});
    }
    ReadQueue* const queue = lease_->queue();
    if (queue == nullptr) return read_here();
    try {
      queue->submit(run_.requests);
    } catch (const IoError&) {  // no thread can be started
      read_here();
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

  const BatchReadOptions& options_;
  DirectReads direct_;
  ReadRun run_;
  std::vector<Completion> done_;
  std::vector<Completion> failed_;
  std::optional<QueueLease> lease_;  // destroyed first: what is in flight ends with it
};

// Without the lists that more of them need.
std::vector<Completion> read_one(const ReadRequest& request, bool direct) {
  DirectReads reads(direct, {});
  const MutableBytes piece = request.into;
  const bool cached =
      !reads.wanted_for(request) && request.source->read_if_cached(request.offset, {&piece, 1});
  std::vector<Completion> failed;
  Completion completion = cached ? checked(request) : perform(request, reads);
  if (completion.error) failed.push_back(std::move(completion));
  return failed;
}

}  // namespace

std::vector<Completion> read_batch(std::span<const ReadRequest> requests,
                                   const BatchReadOptions& options) {
  if (requests.size() == 1) return read_one(requests.front(), options.direct);
  return BatchRead(options).read(requests);
}

}  // namespace fuelrail
