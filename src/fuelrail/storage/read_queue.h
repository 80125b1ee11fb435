// Asynchronous reads: many requests in flight, completed in any order.
//
// Who reads: the kernel's io_uring where it lets us and reads the source's descriptor without
// waiting; else threads that call Source::read (sources without a descriptor, NFS, FUSE). Requests
// of one file that follow each other closely become one read that fills all their buffers
// (read_run.h says how closely). Without threads, whoever waits reads, each request by itself.
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

// Lifetime: the source and the memory of `into` live until the request has completed.
struct ReadRequest {
  const Source* source = nullptr;
  uint64_t offset = 0;
  MutableBytes into;
  uint64_t tag = 0;  // the caller's; comes back in the completion
  // `into` and the memory around it that the read may overwrite too; empty = none. A direct read
  // (ReadOptions::direct) needs it.
  MutableBytes room{};
  // What the bytes' CRC-32 must be. Whoever has read them looks: with `pread` the thread that did,
  // else the one that waits.
  std::optional<uint32_t> crc{};
};

struct Completion {
  uint64_t tag = 0;
  // Null when all bytes are there; a CorruptError where they have another CRC-32 than they should.
  std::exception_ptr error;
};

// Threads: `submit` and `wait` may be called from two different threads, each from one at a time;
// everything else from any. The destructor cancels and waits for what is being read. In a
// forked child, where locks and threads are the parent's, it only lets go, and every method throws
// StateError: of every queue, with threads or without.
class ReadQueue {
 public:
  virtual ~ReadQueue() = default;
  ReadQueue& operator=(ReadQueue&&) = delete;

  // Never blocks on a read. Every request gets exactly one completion; errors of the read, whatever
  // they are, arrive there, a lack of memory among them. Errors: IoError when not one thread can be
  // started; bad_alloc. Whatever is thrown, nothing is submitted then.
  virtual void submit(std::span<const ReadRequest> requests) = 0;

  // Waits until at least `at_least` completions are there (or all that are in flight, when those
  // are fewer: none in flight, no waiting), or until `interrupt`; moves as many as fit into `into`.
  // Returns: how many. Requires: at_least <= into.size(). Errors: none, but a forked child's.
  //
  // For at_least = 0 it takes what is there, and verifies one checksum at most: repeated
  // calls get everything; but not without threads, where only a call that waits reads.
  virtual size_t wait(std::span<Completion> into, size_t at_least) = 0;

  // Ends the `wait` in progress (without threads: after the read that it makes), or, where none is,
  // the next one: it returns what there is, be it nothing. A `wait` for at_least = 0 does not
  // count. Must not throw: it is called where nothing may.
  virtual void interrupt() = 0;

  // Requests not yet started complete with a StateError "cancelled"; those in progress complete as
  // they end. The queue can be used on. Errors: bad_alloc; nothing is cancelled then.
  virtual void cancel() = 0;

  // Submitted and not yet returned by `wait`.
  virtual size_t in_flight() const = 0;

  // From now on as many reads at once, at least 1 and at most kMaxReadThreads, by threads; by
  // io_uring too, which has kRingDepth at once in any case. It does nothing for reads inside
  // `wait`. Errors: none; where the system starts no further thread, fewer have to do.
  virtual void set_threads(int threads) = 0;

  // Who has read so far: "inline", "pread", "io_uring", or "io_uring and pread" where threads had
  // to read some; before the first read, who is to.
  virtual const char* backend_name() const = 0;
};

inline constexpr int kRingDepth = 127;  // reads that io_uring has at once, at least

// A direct read is made where the request's offsets, rounded outwards to multiples of
// kDirectAlignment, fit into its `room` and lie there at such an address; all others are ordinary.
inline constexpr size_t kDirectAlignment = 4096;

// What a queue tells its owner.
struct ReadQueueCalls {
  // Called at most once when a file system refuses direct reads, at most once when a file cannot be
  // opened for them (the source is not asked again, but after a lack of descriptors or memory), and
  // at most once for a source without a descriptor; they become ordinary ones then. On a thread
  // that calls `submit` or `wait`, or on one of the queue's own; the queue's lock may be held.
  Warn warn{};
  // Called each time that threads have brought completions, cancelled ones aside, which `wait` has
  // from then on. On such a thread, which holds no lock; must not throw. Only with kPread, for
  // nobody is told of what the kernel reads; never without threads.
  std::function<void()> on_completion{};
};

// Threads start as they are needed and receive no signals; without any, `wait` reads, in order.
// Errors: InvalidArgumentError unless 0 <= threads <= kMaxReadThreads, for kIoUring with no threads
// and for `on_completion` without kPread; UnsupportedError with kIoUring where the kernel refuses
// it.
std::unique_ptr<ReadQueue> make_read_queue(const ReadOptions& options, ReadQueueCalls calls = {});

// Why the kernel gives this process no io_uring; empty when it does.
std::string io_uring_refusal();

}  // namespace fuelrail
