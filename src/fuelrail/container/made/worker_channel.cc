#include "fuelrail/container/made/worker_channel.h"

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "fuelrail/base/native_thread.h"
#include "fuelrail/container/made/worker_messages.h"

namespace fuelrail::made {
namespace {

constexpr std::chrono::milliseconds kTimeToLeave(100);

// The arrays of one sample often take the memory of the last one's. The C library would give freed
// memory back to the system each time, and its pages would have to be cleared and mapped again.
void keep_freed_memory() {
#ifdef __GLIBC__
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the largest value that all versions take
  ::mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}

// Waits until the parent has ended or closed the connection, then ends this process. A parent that
// was forked leaves copies of its socket in its children, so the socket alone does not show its
// end.
[[noreturn]] void watch(pid_t parent) {
  const int process = static_cast<int>(::syscall(SYS_pidfd_open, parent, 0));
  const bool known = process >= 0;  // not on kernels before 5.3
  pollfd ends[] = {{.fd = kWorkerSocket, .events = POLLRDHUP, .revents = 0},
                   {.fd = process, .events = POLLIN, .revents = 0}};
  while (::getppid() == parent) {
    const int ready = ::poll(ends, known ? 2 : 1, known ? -1 : 100);
    if (ready > 0) break;
  }
  std::this_thread::sleep_for(kTimeToLeave);  // an idle worker ends by itself
  WorkerChannel::end();
}

FailureKind kind_of(const Error& error) {
  if (dynamic_cast<const NotFoundError*>(&error) != nullptr) return FailureKind::kNotFound;
  if (dynamic_cast<const IoError*>(&error) != nullptr) return FailureKind::kIo;
  if (dynamic_cast<const TruncatedError*>(&error) != nullptr) return FailureKind::kTruncated;
  if (dynamic_cast<const OutOfMemoryError*>(&error) != nullptr) return FailureKind::kOutOfMemory;
  if (dynamic_cast<const UnsupportedError*>(&error) != nullptr) return FailureKind::kUnsupported;
  return FailureKind::kCorrupt;
}

}  // namespace

WorkerChannel::WorkerChannel(pid_t parent) : greeting_(SharedMemory::of(kWorkerGreeting)) {
  // The worker's own children must not keep the connection open.
  ::fcntl(kWorkerSocket, F_SETFD, FD_CLOEXEC);
  ::fcntl(kWorkerGreeting, F_SETFD, FD_CLOEXEC);
  keep_freed_memory();
  start_native_thread("fuelrail-watch", [parent] { watch(parent); }).detach();
}

void WorkerChannel::ready() { send(packet_of(Reply{ReplyKind::kReady})); }

void WorkerChannel::refuse(const std::string& why) {
  send(packet_of(Reply{ReplyKind::kRefusal}, why));
}

void WorkerChannel::send(const std::string& packet) const {
  end_forked_child();
  send_packet(kWorkerSocket, packet);
}

void WorkerChannel::end_forked_child() const {
  if (process_.is_parents()) ::_exit(1);
}

void WorkerChannel::end() {
  if (::getpgrp() == ::getpid()) ::kill(0, SIGKILL);
  ::_exit(0);
}

std::optional<uint64_t> WorkerChannel::next() {
  end_forked_child();
  const Packet packet = receive_packet(kWorkerSocket);
  Request request;
  if (!read_message(packet, request)) {
    if (::fcntl(kWorkerSocket, F_GETFD) >= 0) return std::nullopt;
    throw IoError("the dataset has closed descriptor 3, the connection to the loader");
  }
  if (packet.descriptor >= 0) {
    slots_.erase(request.slot);
    slots_.emplace(request.slot, SharedMemory::of(packet.descriptor));
  }
  const auto slot = slots_.find(request.slot);
  slot_ = slot == slots_.end() ? nullptr : &slot->second;
  return request.record;
}

MutableBytes WorkerChannel::room(uint64_t bytes) {
  end_forked_child();
  if (slot_ == nullptr) {
    throw IoError("the dataset has opened too many files in a worker",
                  {.remedy = "Close them, or raise the limit (ulimit -n)"});
  }
  if (bytes > slot_->bytes().size()) slot_->grow(bytes + bytes / 4);
  return slot_->bytes();
}

void WorkerChannel::answer(uint64_t bytes) {
  send(packet_of(Reply{.kind = ReplyKind::kRecord, .bytes = bytes}));
}

void WorkerChannel::fail(const Error& error) {
  // The record and its place are added by the parent.
  std::string text = error.failure();
  const ErrorDetail& detail = error.detail();
  const std::string parts[] = {detail.path, detail.field, detail.expected, detail.found,
                               detail.remedy};
  std::string packed;
  for (const std::string& part : parts) packed.append(part).push_back('\0');
  packed.append(text);
  send(packet_of(Reply{.kind = ReplyKind::kFailure, .failure = kind_of(error)}, packed));
}

}  // namespace fuelrail::made
