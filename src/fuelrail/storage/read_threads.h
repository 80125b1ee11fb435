// Threads that call Source::read, or read_scattered for neighbours.
//
// One lock guards what is pending. Nobody is woken who has nothing to do: a start wakes as many
// idle threads as it has requests.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "fuelrail/storage/read_queue.h"
#include "fuelrail/storage/read_run.h"

namespace fuelrail {

// Threads: any.
class ReadThreads {
 public:
  // `deliver` gets what is complete, on the thread that read it, which holds no lock.
  using Deliver = std::function<void(std::span<Completion>)>;

  ReadThreads(size_t at_once, DirectReads& direct, Deliver deliver)
      : direct_(direct), deliver_(std::move(deliver)), at_once_(at_once) {}
  // Waits for the reads in progress; those not started are dropped.
  ~ReadThreads();
  ReadThreads(const ReadThreads&) = delete;
  ReadThreads& operator=(const ReadThreads&) = delete;

  // Errors: IoError when not one thread can be started; bad_alloc. Nothing is to be read then.
  void start(std::span<const ReadRequest> requests);
  // Takes back what no thread has begun. Errors: bad_alloc; nothing is taken then.
  std::deque<ReadRequest> take_pending();
  void set_at_once(size_t reads);

 private:
  void start_threads(size_t requests);
  void run();
  void read_next(std::unique_lock<std::mutex>& hold, ReadRun& run, std::vector<Completion>& done);
  bool may_read() const { return !pending_.empty() && running_ < at_once_; }

  DirectReads& direct_;
  const Deliver deliver_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::deque<ReadRequest> pending_;
  size_t at_once_;
  size_t running_ = 0;  // threads that read
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace fuelrail
