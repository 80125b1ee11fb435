// Asynchronous reads: many requests in flight, completed in any order.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <span>

#include "fuelrail/base/bytes.h"
#include "fuelrail/storage/source.h"

namespace fuelrail {

// Lifetime: the source and the memory of `into` live until the request has completed.
struct ReadRequest {
  const Source* source = nullptr;
  uint64_t offset = 0;
  MutableBytes into;
  uint64_t tag = 0;  // the caller's; comes back in the completion
};

struct Completion {
  uint64_t tag = 0;
  std::exception_ptr error;  // null when all bytes are there
};

// Threads: `submit` and `wait` may be called from two different threads, each from one at a time;
// `cancel` and `in_flight` from any. The destructor cancels and waits for what is being read. In a
// forked child, where locks and threads are the parent's, it only lets go, and every method throws
// StateError: of every queue, with threads or without.
class ReadQueue {
 public:
  virtual ~ReadQueue() = default;
  ReadQueue(const ReadQueue&) = delete;
  ReadQueue& operator=(const ReadQueue&) = delete;

  // Never blocks on a read. Every request gets exactly one completion; errors of the read, whatever
  // they are, arrive there. Errors: IoError when not one thread can be started; nothing is
  // submitted then.
  virtual void submit(std::span<const ReadRequest> requests) = 0;

  // Waits until at least `at_least` completions are there (or all that are in flight, when those
  // are fewer: none in flight, no waiting), moves as many as fit into `into`. Returns: how many.
  // Requires: at_least <= into.size().
  virtual size_t wait(std::span<Completion> into, size_t at_least) = 0;

  // Requests not yet started complete with a StateError "cancelled"; those in progress complete as
  // they end. The queue can be used on.
  virtual void cancel() = 0;

  // Submitted and not yet returned by `wait`.
  virtual size_t in_flight() const = 0;

 protected:
  ReadQueue() = default;
};

inline constexpr int kMaxReadThreads = 1024;

struct ReadQueueOptions {
  int threads = 4;  // reads at once; 0 reads inside `wait`, in order, without any thread
};

// `threads` = 0 gives the inline queue, anything above the pread pool, whose threads start as they
// are needed and receive no signals. Errors: InvalidArgumentError unless 0 <= threads <=
// kMaxReadThreads.
std::unique_ptr<ReadQueue> make_read_queue(const ReadQueueOptions& options);

}  // namespace fuelrail
