// The read queue on io_uring. To threads go reads that the kernel did not finish (what they say is
// the answer, so that an error is the same by either way), sources without a descriptor, and files
// that cannot be read without waiting: threads of the kernel's would have to wait for those, which
// are few, or who submits. All others too once the kernel starts nothing any more.
#pragma once

#include <sys/uio.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

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
  static std::unique_ptr<UringReads> make(const ReadQueueOptions& options, std::string& refusal,
                                          AlterResult alter_result = {},
                                          Ring::RefuseEnter refuse_enter = {});
  ~UringReads();
  UringReads(const UringReads&) = delete;
  UringReads& operator=(const UringReads&) = delete;

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

  UringReads(const ReadQueueOptions& options, std::unique_ptr<Ring> ring, local::Descriptor bell,
             AlterResult alter_result);
  void let_kernel_read(int at_once);
  bool may_be_kernels(const ReadRequest& request) const;
  bool may_start();
  bool start_one();
  void issue();
  void give_up_ring();
  void prepare(size_t slot);
  void reap();
  void finish(size_t slot, int32_t value);
  void check_one(std::unique_lock<std::mutex>& hold);
  void read_by_threads(std::span<const ReadRequest> requests);
  void deliver(std::span<Completion> completions);
  void sleep(std::unique_lock<std::mutex>& hold, size_t at_least);
  void arm_bell();
  // Whether the sleep of `wait` is to end: it has what it wants, or something is to be started once
  // more.
  bool may_wake() const { return !all_started_ || completed_.serve(wanted_); }
  void wake_if_due();
  void ring_bell() const;
  bool kernel_is_at_work() const { return free_.size() < reads_.size() || bell_armed_; }

  const AlterResult alter_result_;
  DirectReads direct_;
  mutable std::mutex mutex_;
  std::unique_ptr<Ring> ring_;
  std::deque<Read> reads_;    // by slot; grows, and moves nothing
  std::vector<size_t> free_;  // slots
  size_t kernel_reads_at_once_ = 0;
  std::deque<ReadRequest> pending_;  // for the kernel
  std::vector<ReadRequest> handed_over_;
  // Read by the kernel, but their checksums not looked at; has room for all that are in flight.
  ReservedQueue<ReadRequest> unchecked_;
  CompletedReads completed_;
  size_t by_kernel_ = 0;  // requests completed
  size_t by_threads_ = 0;
  bool all_started_ = true;
  size_t wanted_ = 0;  // what `wait` sleeps for; 0 = it does not sleep

  // Threads end the sleep of `wait`, which sleeps in the kernel, by a number that the ring reads.
  local::Descriptor bell_;
  uint64_t bell_count_ = 0;
  iovec bell_piece_{};
  bool bell_armed_ = false;
  std::condition_variable woken_;  // likewise, once the kernel lets nobody sleep there

  ReadThreads threads_;  // destroyed first: they deliver into the rest
};

}  // namespace fuelrail::uring
