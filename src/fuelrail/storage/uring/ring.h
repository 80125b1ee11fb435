// The kernel's io_uring by its own three system calls: a queue of reads to start and a queue of
// reads done, in memory shared with the kernel (io_uring(7)). No library: what is needed of it is
// this page, and a wheel has nothing more to carry.
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

// What the system maps; unmapped at the end. A forked child does not get it.
class Mapping {
 public:
  Mapping() = default;
  // Errors: none; `data` is null where the system refuses.
  Mapping(int fd, uint64_t offset, size_t bytes);
  Mapping(Mapping&& other) noexcept { *this = std::move(other); }
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
};

// Threads: one at a time, but for `await`, which may stand beside everything else.
class Ring {
 public:
  struct Result {
    uint64_t tag;
    int32_t value;  // bytes read, or minus an errno
  };

  // For tests: called with what the kernel is about to be asked to start, 0 where it is only to
  // wait. Returns: the errno that it answers without being asked, or 0. Threads: any.
  using RefuseEnter = std::function<int(unsigned to_submit)>;

  // For `reads` reads in flight at most. Returns: null where the kernel refuses; `refusal` says
  // why.
  static std::unique_ptr<Ring> open(unsigned reads, std::string& refusal,
                                    RefuseEnter refuse_enter = {});

  // From now on the kernel has up to `workers` threads of its own (io-wq), for each thread that
  // submits, for reads that turn out to wait. Default: the kernel's, at most 4 a processor.
  // Returns: false where that stays, before Linux 5.15.
  bool set_workers(unsigned workers);

  // Whether another read can be noted; starts what was noted where that makes the room.
  bool has_room() {
    return prepared_ <= submission_mask_ || submit() || prepared_ <= submission_mask_;
  }

  // Notes a read, which starts with `submit`. Lifetime: `pieces` and the memory they name live
  // until its result has come. Requires: has_room(), and fewer than `reads` are in flight.
  void prepare(int descriptor, uint64_t offset, std::span<const iovec> pieces, uint64_t tag);

  // Starts what was noted. Returns: false when the kernel has not the means for all of it now (the
  // next call tries again), or when it is closed.
  bool submit();

  // Whether the kernel has said that it starts nothing any more, as after a seccomp filter that
  // came later than the ring. What is in flight ends all the same.
  bool closed() const { return closed_.load(std::memory_order_relaxed); }
  // Takes the last read that was noted and not started back. Returns: its tag; empty when there is
  // none.
  std::optional<uint64_t> take_back();

  // The next result; empty when none has come.
  std::optional<Result> result();

  // Waits until a result has come since those that `result` returned; or not, when it is closed.
  // Requires: something is in flight.
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
  unsigned prepared_ = 0;  // noted, not started
  mutable std::atomic<bool> closed_ = false;
};

}  // namespace fuelrail::uring
