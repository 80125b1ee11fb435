// A worker's end of the connection to the process that wants records (worker_pool.h). A worker's
// program makes one, reads the greeting, says `ready`, and then answers requests until there are no
// more:
//
//   WorkerChannel channel(parent);
//   ... channel.greeting() ...
//   channel.ready();
//   while (const auto record = channel.next()) {
//     try { ... channel.answer(bytes of the record); } catch (...) { channel.fail(...); }
//   }
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "fuelrail/base/bytes.h"
#include "fuelrail/base/error.h"
#include "fuelrail/base/own_process.h"
#include "fuelrail/container/made/shared_memory.h"

namespace fuelrail::made {

// Threads: one. If the parent ends or closes the connection, a thread of the channel ends this
// process within 0.1 s, whatever it is doing, so that no worker outlives its parent. In a forked
// child of the worker, any use ends the child, which would overwrite records and answer in the
// worker's place.
class WorkerChannel {
 public:
  // Takes over the descriptors that the pool has passed to this process, which has at most one
  // channel. `parent`: the process that started this one. Errors: those of SharedMemory.
  explicit WorkerChannel(pid_t parent);
  WorkerChannel& operator=(WorkerChannel&&) = delete;

  // What the pool tells all of its workers. Lifetime: that of the channel.
  Bytes greeting() const { return greeting_.bytes(); }

  // Says that requests may follow.
  void ready();
  // Says why this worker cannot make any record.
  void refuse(const std::string& why);

  // Waits for the next request. Returns: the record to make, or empty if the parent wants no more.
  // Requires: the request before was answered. Errors: IoError; those of SharedMemory.
  std::optional<uint64_t> next();
  // Memory for the requested record, at least `bytes` long. Errors: OutOfMemoryError; IoError if
  // this process has too many open files.
  MutableBytes room(uint64_t bytes);
  // The record is the first `bytes` of `room`.
  void answer(uint64_t bytes);
  // The record cannot be made. The kind of the error is kept, as far as it says what is wrong with
  // a record; all others become CorruptErrors.
  void fail(const Error& error);

  // Ends this process and those that it has started, if they are in its group.
  [[noreturn]] static void end();

 private:
  void send(const std::string& packet) const;
  void end_forked_child() const;

  const OwnProcess process_;
  SharedMemory greeting_;
  std::unordered_map<uint64_t, SharedMemory> slots_;
  SharedMemory* slot_ = nullptr;  // of the request; null if it could not be opened
};

}  // namespace fuelrail::made
