// Asynchronous reads: many requests in flight, completed in any order.
//
// io_uring reads, if the kernel permits it and can read the source's descriptor without blocking.
// Otherwise (sources without a descriptor, NFS, FUSE), threads call Source::read. Requests for
// nearby ranges of one file become one read that fills all their buffers (read_run.h has the
// limits). Without threads, the thread that calls `wait` reads, one request at a time.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "fuelrail/base/bytes.h"
#include "fuelrail/base/listener.h"
#include "fuelrail/storage/read_options.h"
#include "fuelrail/storage/source.h"

namespace fuelrail {

// Lifetime: the source and the memory of `into` must live until the request has completed.
struct ReadRequest {
  const Source* source = nullptr;
  uint64_t offset = 0;
  MutableBytes into;
  uint64_t tag = 0;  // chosen by the caller; returned in the completion
  // The memory that the read may overwrite: `into` and some memory around it; empty = only `into`.
  // Needed for a direct read (ReadOptions::direct).
  MutableBytes room{};
  // The expected CRC-32 of the bytes. Checked by the thread that read the bytes (`pread`), or else
  // by the thread that calls `wait`.
  std::optional<uint32_t> crc{};
};

struct Completion {
  uint64_t tag = 0;
  // Null if all bytes were read; a CorruptError if their CRC-32 is not the expected one; otherwise
  // the error of the read.
  std::exception_ptr error;
};

// Threads: `submit` from one thread at a time, `wait` from one thread at a time (which may be a
// different one); everything else from any thread. The destructor cancels pending requests and
// waits for the reads in progress. In a forked child, even if the queue has no threads, `interrupt`
// and `cancel` do nothing, every other method throws StateError, and the destructor abandons the
// parent's locks and threads.
class ReadQueue {
 public:
  virtual ~ReadQueue() = default;
  ReadQueue& operator=(ReadQueue&&) = delete;

  // Never blocks on a read. Every request gets exactly one completion, which also carries any error
  // of the read, even a lack of memory. Errors: IoError if no thread can be started; bad_alloc. If
  // it throws, nothing has been submitted.
  virtual void submit(std::span<const ReadRequest> requests) = 0;

  // Waits until at least `at_least` completions are available (or all requests in flight have
  // completed, if those are fewer), or until `interrupt`. Moves as many completions as fit into
  // `into`. Returns: the number moved. Requires: at_least <= into.size(). Errors: StateError in a
  // forked child.
  //
  // With at_least = 0 it takes the available completions without waiting, and verifies at most one
  // checksum. Repeated calls eventually return all completions, except in a queue without threads,
  // which reads only in calls that wait.
  virtual size_t wait(std::span<Completion> into, size_t at_least) = 0;

  // Ends the `wait` in progress (without threads: after its current read), or the next one if none
  // is in progress. That `wait` returns the available completions, if any. Does not affect a `wait`
  // with at_least = 0.
  virtual void interrupt() noexcept = 0;

  // Requests not yet started complete with a StateError "the read was cancelled"; reads in progress
  // complete normally. The queue stays usable. Allocates nothing but the errors: it is called when
  // there is no memory.
  virtual void cancel() noexcept = 0;

  // The number of requests submitted whose completions `wait` has not returned.
  virtual size_t in_flight() const = 0;

  // Sets the number of simultaneous reads, from 1 to kMaxReadThreads, by threads and by io_uring
  // (which always allows at least kRingDepth). Does nothing in a queue without threads. Errors:
  // none; if the system cannot start more threads, fewer are used.
  virtual void set_threads(int threads) = 0;

  // The backend that has read so far: "inline", "pread", "io_uring", or "io_uring and pread" if
  // threads also had to read. Before the first read: the backend that will read.
  virtual const char* backend_name() const = 0;
};

inline constexpr int kRingDepth = 127;  // minimum number of simultaneous reads by io_uring

// A request is read directly if its range, rounded outwards to multiples of kDirectAlignment, fits
// into its `room`, and begins there at an address that is also such a multiple. Otherwise it is an
// ordinary read.
inline constexpr size_t kDirectAlignment = 4096;

// Callbacks of a queue.
struct ReadQueueCalls {
  // Called when ordinary reads replace direct ones, at most once for each reason: a file system
  // refuses direct reads; a file cannot be opened for them (not retried for that source, except
  // after a lack of descriptors or memory); a source has no descriptor. Called on a thread that
  // calls `submit` or `wait`, or on one of the queue's threads; the queue's lock may be held.
  Warn warn{};
  // Called each time a thread has added completions (except cancelled ones), after they are
  // available to `wait`. Called on that thread, without a lock; must not throw. Requires kPread,
  // because reads by the kernel cannot call it. Never called by a queue without threads.
  std::function<void()> on_completion{};
};

// Creates a queue. Threads are started as needed and block all signals. With threads = 0, `wait`
// reads the requests in order. Errors: InvalidArgumentError unless 0 <= threads <= kMaxReadThreads,
// for kIoUring with threads = 0, and for `on_completion` without kPread; UnsupportedError for
// kIoUring if the kernel refuses it.
std::unique_ptr<ReadQueue> make_read_queue(const ReadOptions& options, ReadQueueCalls calls = {});

// The reason why the kernel refuses io_uring to this process; empty if the kernel permits it.
std::string io_uring_refusal();

}  // namespace fuelrail
