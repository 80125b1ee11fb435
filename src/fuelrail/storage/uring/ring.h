// The kernel's io_uring through its three system calls: a queue of reads to start and a queue of
// completed reads, in memory shared with the kernel (io_uring(7)). Does not use liburing: the part
// of it that would be needed is short, and wheels need one library less.
#pragma once

#include <sys/uio.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "fuelrail/storage/local/posix.h"

namespace fuelrail::uring {

// A memory mapping, unmapped on destruction. Not inherited by a forked child.
class Mapping {
 public:
  Mapping() = default;
  // Errors: none; `data` is null if the system refuses the mapping.
  Mapping(int fd, uint64_t offset, size_t bytes);
  Mapping(Mapping&& other) noexcept { *this = std::move(other); }
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
};

// Threads: one at a time, except `await`, which may run at the same time as any other call.
class Ring {
 public:
  struct Result {
    uint64_t tag;
    int32_t value;  // bytes read, or minus an errno
  };

  // For tests: called before each system call with the number of reads to start, 0 for a call that
  // only waits. Returns: 0 to make the call, or an errno that is reported as its failure instead of
  // making it. Threads: any.
  using RefuseEnter = std::function<int(unsigned to_submit)>;

  // Opens a ring for at most `reads` reads in flight. Returns: null if the kernel refuses, with the
  // reason in `refusal`.
  static std::unique_ptr<Ring> open(unsigned reads, std::string& refusal,
                                    RefuseEnter refuse_enter = {});

  // Sets the limit of kernel threads (io-wq) for each submitting thread, for reads that turn out to
  // block. Default: the kernel's, at most 4 per processor. Returns: false if the limit cannot be
  // set (before Linux 5.15).
  bool set_workers(unsigned workers);

  // Whether one more read can be prepared. If needed, starts the prepared reads to make room.
  bool has_room() {
    return prepared_ <= submission_mask_ || submit() || prepared_ <= submission_mask_;
  }

  // Prepares a read, which starts at `submit`. Lifetime: `pieces` and their memory must live until
  // the read's result has arrived. Requires: has_room(), and fewer than `reads` reads in flight.
  void prepare(int descriptor, uint64_t offset, std::span<const iovec> pieces, uint64_t tag);

  // Starts the prepared reads. Returns: false if the kernel has no resources to start all of them
  // now (the next call tries again), or if the ring is closed.
  bool submit();

  // Whether the kernel refuses to start any more reads, for example because a seccomp filter was
  // installed after the ring was opened. Reads in flight still complete.
  bool closed() const { return closed_.load(std::memory_order_relaxed); }
  // Removes the last read that was prepared but not started. Returns: its tag; empty if there is
  // none.
  std::optional<uint64_t> take_back();

  // The next result; empty if none has arrived.
  std::optional<Result> result();

  // Waits until `result` can return a result; returns at once if the ring is closed. Requires: a
  // read is in flight.
  void await() const;

 private:
  Ring() = default;
  int enter(unsigned to_submit, unsigned at_least, unsigned flags) const;
  void close_unless_it_passes(int error) const;
  static unsigned& at(const Mapping& mapping, unsigned offset);

  RefuseEnter refuse_enter_;
  local::Descriptor file_;
  Mapping rings_;
  Mapping entries_;
  unsigned* submission_tail_ = nullptr;
  unsigned submission_mask_ = 0;
  unsigned* completion_head_ = nullptr;
  unsigned* completion_tail_ = nullptr;
  unsigned completion_mask_ = 0;
  std::byte* completions_ = nullptr;
  unsigned prepared_ = 0;  // prepared but not started
  mutable std::atomic<bool> closed_ = false;
};

}  // namespace fuelrail::uring
