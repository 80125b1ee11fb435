// System calls on files that fail on request: defines pread, preadv, pwrite, ftruncate, fsync,
// rename, renameat2 and unlink, which replace the C library's in this program. To be included by
// one source file of a test program that links fuelrail statically. Does not affect reads through
// io_uring.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <limits>

namespace fuelrail {

// The calls that are counted: those that can fail in practice.
enum class Call : uint8_t { kRead, kWrite, kTruncate, kSync, kRename, kRemove };

// Threads: any.
class FaultyCalls {
 public:
  static constexpr int kShort = -1;   // half of the bytes, without an error
  static constexpr int kKilled = -2;  // the process is killed before the call

  // For tests of changes to files: does not count reads, counts removals, and makes no flushes,
  // whose effect only a power failure shows. Default: reads are counted, removals are not.
  static inline std::atomic<bool> only_changes = false;

  // Lets the call `number` from now on (counted from 0) and the next `more` calls fail with the
  // errno `error`, or be kShort.
  static void arm(int error, uint64_t number, uint64_t more = 0) {
    error_.store(error, std::memory_order_relaxed);
    more_.store(static_cast<int64_t>(more), std::memory_order_relaxed);
    count_.store(0, std::memory_order_relaxed);
    left_.store(static_cast<int64_t>(number), std::memory_order_release);
  }
  static void disarm() { left_.store(kNever, std::memory_order_release); }
  static uint64_t calls() { return count_.load(std::memory_order_relaxed); }  // since `arm`
  static Call last_failed() { return last_failed_.load(std::memory_order_relaxed); }

  // Returns: the fault for this call, or 0 for none. Calls that cannot fail in practice have none.
  static int next(Call call) {
    if (call == (only_changes ? Call::kRead : Call::kRemove)) return 0;
    count_.fetch_add(1, std::memory_order_relaxed);
    const int64_t left = left_.fetch_sub(1, std::memory_order_acq_rel);
    if (left > 0 || -left > more_.load(std::memory_order_relaxed)) return 0;
    const int error = error_.load(std::memory_order_relaxed);
    last_failed_.store(call, std::memory_order_relaxed);
    if (error == kKilled) ::kill(::getpid(), SIGKILL);
    const bool moves_bytes = call == Call::kRead || call == Call::kWrite;
    if (error == kShort) return moves_bytes ? error : 0;
    if (error == ENOSPC) return moves_more(call) ? error : 0;
    if (error == EINTR) return call == Call::kRename || call == Call::kRemove ? 0 : error;
    return error;
  }

 private:
  static bool moves_more(Call call) {  // may need room on the disk
    return call == Call::kWrite || call == Call::kSync || call == Call::kRename;
  }

  static constexpr int64_t kNever = std::numeric_limits<int64_t>::min() / 2;

  static inline std::atomic<int> error_{0};
  static inline std::atomic<Call> last_failed_{Call::kRead};
  static inline std::atomic<int64_t> more_{0};
  static inline std::atomic<int64_t> left_{kNever};
  static inline std::atomic<uint64_t> count_{0};
};

}  // namespace fuelrail

extern "C" {

ssize_t pread(int fd, void* bytes, size_t size, off_t offset) {
  using fuelrail::FaultyCalls;
  const int fault = FaultyCalls::next(fuelrail::Call::kRead);
  if (fault > 0) {
    errno = fault;
    return -1;
  }
  return ::syscall(SYS_pread64, fd, bytes,
                   fault == FaultyCalls::kShort && size > 1 ? size / 2 : size, offset);
}

ssize_t preadv(int fd, const iovec* pieces, int count, off_t offset) {
  using fuelrail::FaultyCalls;
  const int fault = FaultyCalls::next(fuelrail::Call::kRead);
  if (fault > 0) {
    errno = fault;
    return -1;
  }
  if (fault == FaultyCalls::kShort && count > 0 && pieces->iov_len > 1) {
    const iovec half{pieces->iov_base, pieces->iov_len / 2};
    return ::syscall(SYS_preadv, fd, &half, 1L, offset, 0L);
  }
  return ::syscall(SYS_preadv, fd, pieces, static_cast<long>(count), offset, 0L);
}

ssize_t pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  using fuelrail::FaultyCalls;
  const int fault = FaultyCalls::next(fuelrail::Call::kWrite);
  if (fault > 0) {
    errno = fault;
    return -1;
  }
  return ::syscall(SYS_pwrite64, fd, bytes,
                   fault == FaultyCalls::kShort && size > 1 ? size / 2 : size, offset);
}

int ftruncate(int fd, off_t size) noexcept {
  if (const int fault = fuelrail::FaultyCalls::next(fuelrail::Call::kTruncate)) {
    errno = fault;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_ftruncate, fd, size));
}

int fsync(int fd) {
  if (const int fault = fuelrail::FaultyCalls::next(fuelrail::Call::kSync)) {
    errno = fault;
    return -1;
  }
  if (fuelrail::FaultyCalls::only_changes) return 0;
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

int renameat2(int from_directory, const char* from, int to_directory, const char* to,
              unsigned flags) noexcept {
  if (const int fault = fuelrail::FaultyCalls::next(fuelrail::Call::kRename)) {
    errno = fault;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_renameat2, from_directory, from, to_directory, to, flags));
}

int unlink(const char* path) noexcept {
  if (const int fault = fuelrail::FaultyCalls::next(fuelrail::Call::kRemove)) {
    errno = fault;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}

int rename(const char* from, const char* to) noexcept {
  return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0);
}

}  // extern "C"
