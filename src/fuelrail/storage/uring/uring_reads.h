// The read queue on io_uring. To threads go reads that the kernel did not finish (what they say is
// the answer, so that an error is the same by either way), sources without a descriptor, and files
// that cannot be read without waiting: threads of the kernel's would have to wait for those, which
// are few, or who submits. All others too once the kernel starts nothing any more.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fuelrail/base/guarded.h"
#include "fuelrail/storage/completed_reads.h"
#include "fuelrail/storage/local/posix.h"
#include "fuelrail/storage/read_queue.h"
#include "fuelrail/storage/read_run.h"
#include "fuelrail/storage/read_threads.h"
#include "fuelrail/storage/reserved_queue.h"
#include "fuelrail/storage/uring/ring.h"

namespace fuelrail::uring {

// Methods: ReadQueue's.
class UringReads {
 public:
  // For tests: stands between the kernel's result and what is made of it. Default: changes nothing.
  using AlterResult = std::function<int32_t(int32_t value)>;

  // Returns: null where the kernel refuses; `refusal` says why.
  static std::unique_ptr<UringReads> make(const ReadOptions& options, const ReadQueueCalls& calls,
                                          std::string& refusal, AlterResult alter_result = {},
                                          Ring::RefuseEnter refuse_enter = {});
  ~UringReads();
  UringReads& operator=(UringReads&&) = delete;

  void submit(std::span<const ReadRequest> requests);
  size_t wait(std::span<Completion> into, size_t at_least);
  void interrupt();
  void cancel();
  size_t in_flight() const;
  void set_threads(int threads);
  const char* backend_name() const;

 private:
  // One read in the kernel, of one request or of neighbours.
  struct Read {
    ReadRun run;
    std::vector<iovec> pieces;
    size_t bytes = 0;  // that must come
    bool direct = false;
  };

  UringReads(const ReadOptions& options, const ReadQueueCalls& calls, std::unique_ptr<Ring> ring,
             local::Descriptor bell, AlterResult alter_result);
  void let_kernel_read(int at_once) FUELRAIL_REQUIRES(mutex_);
  bool may_be_kernels(const ReadRequest& request) const FUELRAIL_REQUIRES(mutex_);
  bool may_start() FUELRAIL_REQUIRES(mutex_);
  bool start_one() FUELRAIL_REQUIRES(mutex_);
  void issue() FUELRAIL_REQUIRES(mutex_);
  void give_up_ring() FUELRAIL_REQUIRES(mutex_);
  void prepare(size_t slot) FUELRAIL_REQUIRES(mutex_);
  void reap() FUELRAIL_REQUIRES(mutex_);
  void finish(size_t slot, int32_t value) FUELRAIL_REQUIRES(mutex_);
  void check_one() FUELRAIL_REQUIRES(mutex_);
  void read_by_threads(std::span<const ReadRequest> requests) FUELRAIL_REQUIRES(mutex_);
  void deliver(std::span<Completion> completions);
  void sleep(size_t at_least) FUELRAIL_REQUIRES(mutex_);
  void arm_bell() FUELRAIL_REQUIRES(mutex_);
  // Whether the sleep of `wait` is to end: it has what it wants, or something is to be started once
  // more.
  bool may_wake() const FUELRAIL_REQUIRES(mutex_) {
    return !all_started_ || completed_.serve(wanted_);
  }
  void wake_if_due() FUELRAIL_REQUIRES(mutex_);
  void ring_bell() const;
  bool kernel_is_at_work() const FUELRAIL_REQUIRES(mutex_) {
    return free_.size() < reads_.size() || bell_armed_;
  }

  const AlterResult alter_result_;
  DirectReads direct_;
  mutable Mutex mutex_;
  const std::unique_ptr<Ring> ring_;
  std::deque<Read> reads_ FUELRAIL_GUARDED_BY(mutex_);    // by slot; grows, and moves nothing
  std::vector<size_t> free_ FUELRAIL_GUARDED_BY(mutex_);  // slots
  size_t kernel_reads_at_once_ FUELRAIL_GUARDED_BY(mutex_) = 0;
  std::deque<ReadRequest> pending_ FUELRAIL_GUARDED_BY(mutex_);  // for the kernel
  std::vector<ReadRequest> handed_over_ FUELRAIL_GUARDED_BY(mutex_);
  // Read by the kernel, but their checksums not looked at; has room for all that are in flight.
  ReservedQueue<ReadRequest> unchecked_ FUELRAIL_GUARDED_BY(mutex_);
  CompletedReads completed_ FUELRAIL_GUARDED_BY(mutex_);
  size_t by_kernel_ FUELRAIL_GUARDED_BY(mutex_) = 0;  // requests completed
  size_t by_threads_ FUELRAIL_GUARDED_BY(mutex_) = 0;
  bool all_started_ FUELRAIL_GUARDED_BY(mutex_) = true;
  size_t wanted_ FUELRAIL_GUARDED_BY(mutex_) = 0;  // what `wait` sleeps for; 0 = it does not sleep

  // Threads end the sleep of `wait`, which sleeps in the kernel, by a number that the ring reads.
  const local::Descriptor bell_;
  uint64_t bell_count_ = 0;
  iovec bell_piece_{};
  bool bell_armed_ FUELRAIL_GUARDED_BY(mutex_) = false;
  Condition woken_;  // likewise, once the kernel lets nobody sleep there

  ReadThreads threads_;  // destroyed first: they deliver into the rest
};

}  // namespace fuelrail::uring
