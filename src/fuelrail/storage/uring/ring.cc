#include "fuelrail/storage/uring/ring.h"

#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

namespace fuelrail::uring {
namespace {

// Size of the queue of reads to start. A longer queue would bring nothing. Results have a separate
// queue.
constexpr unsigned kMaxPrepared = 128;

// The features that are required: both queues in one mapping (Linux 5.4), no lost results (5.5),
// and reads that wait for pages without a kernel thread (5.7).
constexpr unsigned kNeeded = IORING_FEAT_SINGLE_MMAP | IORING_FEAT_NODROP |
                             IORING_FEAT_SUBMIT_STABLE | IORING_FEAT_FAST_POLL;

std::string why(int error) {
  switch (error) {
    case ENOSYS:
      return "the kernel has no io_uring";
    case EPERM:
    case EACCES:
      return "the kernel's settings or a container's seccomp profile forbid io_uring";
    case ENOMEM:
      return "the limit on locked memory (ulimit -l) is too low for io_uring";
    default:
      return "cannot set up io_uring: " + local::words_of(error);
  }
}

}  // namespace

Mapping::Mapping(int fd, uint64_t offset, size_t bytes) : bytes_(bytes) {
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd,
                          static_cast<off_t>(offset));
  if (at == MAP_FAILED) return;
  data_ = static_cast<std::byte*>(at);
  ::madvise(at, bytes, MADV_DONTFORK);
}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Mapping::~Mapping() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

unsigned& Ring::at(const Mapping& mapping, unsigned offset) {
  return *reinterpret_cast<unsigned*>(mapping.data() + offset);
}

std::unique_ptr<Ring> Ring::open(unsigned reads, std::string& refusal, RefuseEnter refuse_enter) {
  io_uring_params params{};
  params.flags = IORING_SETUP_CQSIZE;
  params.cq_entries = reads;
  const auto fd =
      static_cast<int>(::syscall(__NR_io_uring_setup, std::min(reads, kMaxPrepared), &params));
  if (fd < 0) {
    refusal = why(errno);
    return nullptr;
  }
  std::unique_ptr<Ring> ring(new Ring);
  ring->refuse_enter_ = std::move(refuse_enter);
  ring->file_ = local::Descriptor(fd);
  if ((params.features & kNeeded) != kNeeded) {
    refusal = "the kernel's io_uring is older than Linux 5.7";
    return nullptr;
  }
  const size_t submission_bytes = params.sq_off.array + params.sq_entries * sizeof(unsigned);
  const size_t completion_bytes = params.cq_off.cqes + params.cq_entries * sizeof(io_uring_cqe);
  ring->rings_ = Mapping(fd, IORING_OFF_SQ_RING, std::max(submission_bytes, completion_bytes));
  ring->entries_ = Mapping(fd, IORING_OFF_SQES, params.sq_entries * sizeof(io_uring_sqe));
  if (ring->rings_.data() == nullptr || ring->entries_.data() == nullptr) {
    refusal = why(errno);
    return nullptr;
  }
  const Mapping& rings = ring->rings_;
  ring->submission_tail_ = &at(rings, params.sq_off.tail);
  ring->submission_mask_ = at(rings, params.sq_off.ring_mask);
  ring->completion_head_ = &at(rings, params.cq_off.head);
  ring->completion_tail_ = &at(rings, params.cq_off.tail);
  ring->completion_mask_ = at(rings, params.cq_off.ring_mask);
  ring->completions_ = rings.data() + params.cq_off.cqes;
  unsigned* const order = &at(rings, params.sq_off.array);  // entry i always stays at index i
  for (unsigned i = 0; i < params.sq_entries; ++i) order[i] = i;
  return ring;
}

bool Ring::set_workers(unsigned workers) {
  unsigned counts[2] = {workers, 0};  // for files, and for everything else; 0 = no change
  return ::syscall(__NR_io_uring_register, file_.get(), IORING_REGISTER_IOWQ_MAX_WORKERS, counts,
                   2) >= 0;
}

void Ring::prepare(int descriptor, uint64_t offset, std::span<const iovec> pieces, uint64_t tag) {
  const unsigned tail = *submission_tail_;  // only this thread writes it
  std::byte* const place = entries_.data() + (tail & submission_mask_) * sizeof(io_uring_sqe);
  auto* const entry = new (place) io_uring_sqe{};
  entry->opcode = IORING_OP_READV;
  entry->fd = descriptor;
  entry->off = offset;
  entry->addr = reinterpret_cast<uintptr_t>(pieces.data());
  entry->len = static_cast<unsigned>(pieces.size());
  entry->user_data = tag;
  std::atomic_ref(*submission_tail_).store(tail + 1, std::memory_order_release);
  ++prepared_;
}

bool Ring::submit() {
  while (prepared_ > 0) {
    const int taken = enter(prepared_, 0, 0);
    if (taken < 0 && errno == EINTR) continue;
    if (taken < 0) close_unless_it_passes(errno);
    if (taken <= 0) return false;
    prepared_ -= static_cast<unsigned>(taken);
  }
  return true;
}

std::optional<uint64_t> Ring::take_back() {
  if (prepared_ == 0) return std::nullopt;
  --prepared_;
  const unsigned tail = *submission_tail_ - 1;  // the kernel reads it only during `enter`
  std::atomic_ref(*submission_tail_).store(tail, std::memory_order_release);
  return std::launder(reinterpret_cast<const io_uring_sqe*>(
                          entries_.data() + (tail & submission_mask_) * sizeof(io_uring_sqe)))
      ->user_data;
}

std::optional<Ring::Result> Ring::result() {
  const unsigned head = *completion_head_;  // only this thread writes it
  const unsigned tail = std::atomic_ref(*completion_tail_).load(std::memory_order_acquire);
  if (head == tail) return std::nullopt;
  const auto* const entry = std::launder(reinterpret_cast<const io_uring_cqe*>(
      completions_ + (head & completion_mask_) * sizeof(io_uring_cqe)));
  const Result result{entry->user_data, entry->res};
  std::atomic_ref(*completion_head_).store(head + 1, std::memory_order_release);
  return result;
}

// After a signal the caller checks again.
void Ring::await() const {
  if (enter(0, 1, IORING_ENTER_GETEVENTS) < 0) close_unless_it_passes(errno);
}

void Ring::close_unless_it_passes(int error) const {
  if (error == EAGAIN || error == EBUSY || error == EINTR) return;
  closed_.store(true, std::memory_order_relaxed);
}

int Ring::enter(unsigned to_submit, unsigned at_least, unsigned flags) const {
  if (const int error = refuse_enter_ ? refuse_enter_(to_submit) : 0; error != 0) {
    errno = error;
    return -1;
  }
  return static_cast<int>(
      ::syscall(__NR_io_uring_enter, file_.get(), to_submit, at_least, flags, nullptr, size_t{0}));
}

}  // namespace fuelrail::uring
