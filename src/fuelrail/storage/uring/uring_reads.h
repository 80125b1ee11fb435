// The read queue on io_uring. Threads do the other reads: those that the kernel did not finish (so
// that both backends report the same errors), and those of sources without a descriptor or of files
// that cannot be read without blocking, which would block the kernel's few threads or the
// submitting thread. If the kernel refuses to start more reads, threads do all of them.
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

// Methods: as in ReadQueue.
class UringReads {
 public:
  // For tests: replaces the kernel's result of a read. Default: no change.
  using AlterResult = std::function<int32_t(int32_t value)>;

  // Returns: null if the kernel refuses, with the reason in `refusal`.
  static std::unique_ptr<UringReads> make(const ReadOptions& options, const ReadQueueCalls& calls,
                                          std::string& refusal, AlterResult alter_result = {},
                                          Ring::RefuseEnter refuse_enter = {});
  ~UringReads();
  UringReads& operator=(UringReads&&) = delete;

  void submit(std::span<const ReadRequest> requests);
  size_t wait(std::span<Completion> into, size_t at_least);
  void interrupt() noexcept;
  void cancel() noexcept;
  size_t in_flight() const;
  void set_threads(int threads);
  const char* backend_name() const;

 private:
  // One read in the kernel, for one request or several neighbours.
  struct Read {
    ReadRun run;
    std::vector<iovec> pieces;
    size_t bytes = 0;  // needed for success
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
  // Whether the sleep of `wait` should end: the completions that it waits for are available, or it
  // must try again to start reads.
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
  std::deque<Read> reads_ FUELRAIL_GUARDED_BY(mutex_);    // by slot; grows without moving elements
  std::vector<size_t> free_ FUELRAIL_GUARDED_BY(mutex_);  // slots
  size_t kernel_reads_at_once_ FUELRAIL_GUARDED_BY(mutex_) = 0;
  std::deque<ReadRequest> pending_ FUELRAIL_GUARDED_BY(mutex_);    // not yet given to the kernel
  std::deque<ReadRequest> cancelled_ FUELRAIL_GUARDED_BY(mutex_);  // empty except in `cancel`
  std::vector<ReadRequest> handed_over_ FUELRAIL_GUARDED_BY(mutex_);
  // Read by the kernel, checksums not verified yet; has room for all requests in flight.
  ReservedQueue<ReadRequest> unchecked_ FUELRAIL_GUARDED_BY(mutex_);
  CompletedReads completed_ FUELRAIL_GUARDED_BY(mutex_);
  size_t by_kernel_ FUELRAIL_GUARDED_BY(mutex_) = 0;  // requests completed
  size_t by_threads_ FUELRAIL_GUARDED_BY(mutex_) = 0;
  bool all_started_ FUELRAIL_GUARDED_BY(mutex_) = true;
  size_t wanted_ FUELRAIL_GUARDED_BY(mutex_) = 0;  // by `wait`; 0 = `wait` is not sleeping

  // `wait` sleeps in the kernel. Threads wake it by writing to this eventfd, which the ring reads.
  const local::Descriptor bell_;
  uint64_t bell_count_ = 0;
  iovec bell_piece_{};
  bool bell_armed_ FUELRAIL_GUARDED_BY(mutex_) = false;
  Condition woken_;  // wakes `wait` once the ring is closed

  ReadThreads threads_;  // destroyed first: uses the other members
};

}  // namespace fuelrail::uring
