#include "fuelrail/storage/uring/uring_reads.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <deque>
#include <future>
#include <mutex>
#include <set>

#include "fuelrail/testing/read_queue_conformance.h"

namespace fuelrail::uring {
namespace {

// A working ring never takes this long.
constexpr std::chrono::seconds kPatience(60);

// Reads 200 pieces of a file through a ring whose results are altered, or that is refused. Returns:
// the number of pieces read correctly; empty if the kernel has no io_uring.
std::optional<size_t> right_with(UringReads::AlterResult alter, Ring::RefuseEnter refuse = {}) {
  std::string refusal;
  const auto reads =
      UringReads::make({.threads = 2}, {}, refusal, std::move(alter), std::move(refuse));
  if (!reads) return std::nullopt;
  const ReadFile file(300'000);
  std::vector<std::byte> memory(200 * 1'000);
  std::vector<ReadRequest> requests;
  for (uint64_t i = 0; i < 200; ++i) {  // neighbours and separate pieces
    const uint64_t offset = i < 100 ? i * 1'000 : 100'000 + (i - 100) * 1'900;
    requests.push_back({&file.source(), offset, MutableBytes(memory).subspan(i * 1'000, 1'000), i});
  }
  reads->submit(requests);
  size_t right = 0;
  std::vector<Completion> completions(200);
  EXPECT_EQ(reads->wait(completions, 200), 200u);
  for (const Completion& done : completions) right += file.gave(requests[done.tag], done);
  return right;
}

class UringReadsWithResult : public ::testing::TestWithParam<int32_t> {};

// Reads that were interrupted, were cancelled with their thread, lacked resources, failed, or
// returned no bytes are repeated.
TEST_P(UringReadsWithResult, a_read_that_the_kernel_did_not_finish_is_read_again) {
  const auto right = right_with([](int32_t) { return GetParam(); });
  if (!right) GTEST_SKIP() << io_uring_refusal();
  EXPECT_EQ(*right, 200u);
}

INSTANTIATE_TEST_SUITE_P(Results, UringReadsWithResult,
                         ::testing::Values(-EINTR, -ECANCELED, -EAGAIN, -EIO, -ENOMEM, 0));

TEST(UringReads, a_short_read_is_completed) {
  std::atomic<int> count = 0;
  const auto right = right_with([&](int32_t value) {
    return count.fetch_add(1, std::memory_order_relaxed) % 2 == 0 ? value - 1 : value;
  });
  if (!right) GTEST_SKIP() << io_uring_refusal();
  EXPECT_EQ(*right, 200u);
}

// As after a system call filter (seccomp) that is installed after the ring was opened.
class UringReadsRefusedAfter : public ::testing::TestWithParam<int> {};

TEST_P(UringReadsRefusedAfter, threads_read_what_the_kernel_will_not) {
  std::atomic<int> calls = 0;
  const auto right = right_with({}, [&](unsigned) {
    return calls.fetch_add(1, std::memory_order_relaxed) < GetParam() ? 0 : EPERM;
  });
  if (!right) GTEST_SKIP() << io_uring_refusal();
  EXPECT_EQ(*right, 200u);
}

INSTANTIATE_TEST_SUITE_P(Calls, UringReadsRefusedAfter, ::testing::Values(0, 1, 2, 3, 5));

TEST(UringReads, a_kernel_without_means_is_asked_again) {
  std::atomic<int> calls = 0;
  const auto right = right_with({}, [&](unsigned to_submit) {
    if (to_submit == 0) return 0;
    constexpr int kErrors[] = {EAGAIN, EBUSY, EINTR, 0};
    return kErrors[calls.fetch_add(1, std::memory_order_relaxed) % 4];
  });
  if (!right) GTEST_SKIP() << io_uring_refusal();
  EXPECT_EQ(*right, 200u);
}

// Memory that blocks each writer of a page until it is released.
class StoppingMemory {
 public:
  explicit StoppingMemory(size_t pages) : bytes_(pages * kPage) {
    void* const at =
        ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memory_ = static_cast<std::byte*>(at);
    faults_ =
        local::Descriptor(static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK)));
    uffdio_api api{.api = UFFD_API, .features = 0, .ioctls = 0};
    uffdio_register pages_of{.range = {reinterpret_cast<uintptr_t>(at), bytes_},
                             .mode = UFFDIO_REGISTER_MODE_MISSING,
                             .ioctls = 0};
    permitted_ = faults_.valid() && ::ioctl(faults_.get(), UFFDIO_API, &api) == 0 &&
                 ::ioctl(faults_.get(), UFFDIO_REGISTER, &pages_of) == 0;
  }
  ~StoppingMemory() {
    let_go();
    ::munmap(memory_, bytes_);
  }
  StoppingMemory(const StoppingMemory&) = delete;
  StoppingMemory& operator=(const StoppingMemory&) = delete;

  bool permitted() const { return permitted_; }
  MutableBytes page(size_t i) { return {memory_ + i * kPage, kPage}; }
  void let_go() { faults_ = local::Descriptor(); }

  // Waits, up to a generous time limit, until reads are blocked at `pages` pages. Returns: the
  // number of pages.
  size_t await(size_t pages) {
    constexpr int kPatienceMs = 30'000;
    while (stopped_.size() < pages) {
      pollfd wait{.fd = faults_.get(), .events = POLLIN, .revents = 0};
      if (::poll(&wait, 1, kPatienceMs) == 0) break;
      uffd_msg message{};
      if (::read(faults_.get(), &message, sizeof message) == sizeof message) {
        stopped_.insert(message.arg.pagefault.address / kPage);
      }
    }
    return stopped_.size();
  }

 private:
  static constexpr size_t kPage = 4096;
  size_t bytes_;
  std::byte* memory_ = nullptr;
  local::Descriptor faults_;
  bool permitted_ = false;
  std::set<uint64_t> stopped_;
};

// Reads one byte of a descriptor.
class DescriptorSource final : public Source {
 public:
  DescriptorSource(int descriptor, uint64_t size_bytes, bool without_waiting)
      : descriptor_(descriptor), size_bytes_(size_bytes), without_waiting_(without_waiting) {}
  uint64_t size_bytes() const override { return size_bytes_; }
  const std::string& uri() const override { return uri_; }
  void read(uint64_t, MutableBytes into) const override {
    if (::read(descriptor_.get(), into.data(), into.size()) < 0) throw IoError("cannot be read");
  }
  int descriptor() const override { return descriptor_.get(); }
  bool reads_without_waiting() const override { return without_waiting_; }

 private:
  local::Descriptor descriptor_;
  uint64_t size_bytes_;
  bool without_waiting_;
  std::string uri_ = "descriptor";
};

// Reads files that the kernel cannot read without blocking (procfs has no FMODE_NOWAIT, like NFS)
// into blocking memory. Returns: the number of reads in flight, at most the number wanted.
std::optional<size_t> at_once(bool as_if_without_waiting, size_t wanted) {
  StoppingMemory memory(wanted);
  std::string refusal;
  const auto reads = UringReads::make({.threads = 3}, {}, refusal);
  if (!memory.permitted() || !reads) return std::nullopt;
  std::deque<DescriptorSource> sources;
  std::vector<ReadRequest> requests;
  for (size_t i = 0; i < wanted; ++i) {
    sources.emplace_back(::open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC), 1,
                         as_if_without_waiting);
    requests.push_back({&sources.back(), 0, memory.page(i).first(1), i});
  }
  reads->submit(std::span(requests).first(20));
  EXPECT_EQ(memory.await(3), 3u);
  reads->set_threads(static_cast<int>(wanted));
  reads->submit(std::span(requests).subspan(20));
  const size_t in_flight = memory.await(wanted);
  memory.let_go();
  std::vector<Completion> completions(wanted);
  EXPECT_EQ(reads->wait(completions, wanted), wanted);
  for (const ReadRequest& request : requests) EXPECT_NE(request.into[0], std::byte{0});
  return in_flight;
}

TEST(UringReads, files_that_make_reads_wait_are_read_by_as_many_threads_as_are_wanted) {
  const auto in_flight = at_once(false, 100);
  if (!in_flight) GTEST_SKIP() << "no io_uring or no userfaultfd";
  EXPECT_EQ(*in_flight, 100u);
}

TEST(UringReads, reads_that_turn_out_to_wait_have_as_many_threads_of_the_kernels_as_are_wanted) {
  std::string refusal;
  const auto ring = Ring::open(1, refusal);
  if (!ring || !ring->set_workers(1)) GTEST_SKIP() << "the kernel has as many as it will";
  const auto in_flight = at_once(true, 100);
  if (!in_flight) GTEST_SKIP() << "no io_uring or no userfaultfd";
  EXPECT_EQ(*in_flight, 100u);
}

// Reads that the ring accepts; each ends when the test allows it.
class Counters {
 public:
  explicit Counters(size_t count) : counts_(count) {
    for (size_t i = 0; i < count; ++i) {
      sources_.emplace_back(::eventfd(0, EFD_CLOEXEC), sizeof(uint64_t), true);
      requests_.push_back(
          {&sources_.back(), 0, std::as_writable_bytes(std::span(counts_).subspan(i, 1)), i});
    }
  }
  const std::vector<ReadRequest>& requests() const { return requests_; }
  void end(size_t i) {
    const uint64_t count = i + 1;
    EXPECT_EQ(::write(sources_[i].descriptor(), &count, sizeof count), 8);
  }
  bool all_right() const {
    for (size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] != i + 1) return false;
    }
    return true;
  }

 private:
  std::vector<uint64_t> counts_;
  std::deque<DescriptorSource> sources_;
  std::vector<ReadRequest> requests_;
};

TEST(UringReads, the_ring_takes_as_many_as_are_wanted) {
  constexpr size_t kReads = 3 * kRingDepth;
  Counters counters(kReads);
  std::string refusal;
  const auto reads = UringReads::make({.threads = 3}, {}, refusal);
  if (!reads) GTEST_SKIP() << refusal;
  for (const ReadRequest& request : counters.requests()) reads->submit({&request, 1});
  reads->set_threads(kReads);
  counters.end(kReads - 1);
  std::vector<Completion> completions(kReads);
  auto first = std::async(std::launch::async,
                          [&] { return reads->wait(std::span(completions).first(1), 1); });
  EXPECT_EQ(first.wait_for(kPatience), std::future_status::ready) << "they are fewer";
  for (size_t i = 0; i + 1 < kReads; ++i) counters.end(i);
  EXPECT_EQ(first.get(), 1u);
  EXPECT_EQ(completions[0].tag, kReads - 1);
  EXPECT_EQ(reads->wait(completions, kReads), kReads - 1);
  EXPECT_TRUE(counters.all_right());
}

TEST(UringReads, who_waits_goes_on_with_reads_that_the_kernel_had_no_means_for) {
  Counters counters(2);
  GatedSource gated;  // read by a thread
  std::byte byte{};
  const ReadRequest by_thread{&gated, 0, {&byte, 1}, 7};
  std::atomic<int> error = 0;
  std::once_flag once;
  std::promise<void> sleeps;
  std::string refusal;
  const auto reads = UringReads::make({.threads = 2}, {}, refusal, {}, [&](unsigned to_submit) {
    if (to_submit == 0) std::call_once(once, [&] { sleeps.set_value(); });
    return to_submit == 0 ? 0 : error.load();
  });
  if (!reads) GTEST_SKIP() << refusal;
  reads->submit({&by_thread, 1});
  std::vector<Completion> completions(3);
  auto both = std::async(std::launch::async, [&] { return reads->wait(completions, 2); });
  sleeps.get_future().wait();
  error = EAGAIN;
  reads->submit({&counters.requests()[0], 1});
  error = 0;
  counters.end(0);
  gated.open();
  EXPECT_EQ(both.wait_for(kPatience), std::future_status::ready);
  reads->submit({&counters.requests()[1], 1});  // starts the other too
  counters.end(1);
  size_t count = both.get();
  count += reads->wait(std::span(completions).subspan(count), 3 - count);
  EXPECT_EQ(count, 3u);
  EXPECT_TRUE(counters.all_right());
}

TEST(UringReads, reads_in_the_kernel_end_though_it_takes_no_further) {
  Counters counters(6);
  std::atomic<int> error = 0;
  std::string refusal;
  const auto reads =
      UringReads::make({.threads = 3}, {}, refusal, {}, [&](unsigned) { return error.load(); });
  if (!reads) GTEST_SKIP() << refusal;
  reads->submit(std::span(counters.requests()).first(3));
  error = EPERM;
  reads->submit(std::span(counters.requests()).last(3));
  std::vector<Completion> completions(6);
  auto all = std::async(std::launch::async, [&] { return reads->wait(completions, 6); });
  for (size_t i = 0; i < 6; ++i) counters.end(i);
  EXPECT_EQ(all.get(), 6u);
  EXPECT_TRUE(counters.all_right());
  EXPECT_STREQ(reads->backend_name(), "io_uring and pread");
}

TEST(UringReads, interrupt_wakes_who_waits_in_the_kernel_or_without_one) {
  for (const int refused : {0, EPERM}) {
    Counters counters(1);
    std::promise<void> sleeps;
    std::once_flag once;
    std::atomic<int> error = 0;
    std::string refusal;
    const auto reads = UringReads::make({.threads = 1}, {}, refusal, {}, [&](unsigned to_submit) {
      if (to_submit == 0) std::call_once(once, [&] { sleeps.set_value(); });
      return error.load();
    });
    if (!reads) GTEST_SKIP() << refusal;
    reads->submit(counters.requests());
    error = refused;
    Completion completion;
    auto wait = std::async(std::launch::async, [&] { return reads->wait({&completion, 1}, 1); });
    if (refused == 0) sleeps.get_future().wait();
    reads->interrupt();
    EXPECT_EQ(wait.get(), 0u) << refused;
    counters.end(0);
    EXPECT_EQ(reads->wait({&completion, 1}, 1), 1u) << refused;
  }
}

TEST(UringReads, who_has_read_is_said) {
  Counters counters(2);
  const auto memory = memory_source("memory", numbered_bytes(10));
  std::byte byte{};
  const ReadRequest by_thread{memory.get(), 0, {&byte, 1}, 7};
  std::string refusal;
  const auto reads = UringReads::make({.threads = 2}, {}, refusal);
  if (!reads) GTEST_SKIP() << refusal;
  std::vector<Completion> completions(1);
  const auto read = [&](const ReadRequest& request) {
    reads->submit({&request, 1});
    EXPECT_EQ(reads->wait(completions, 1), 1u);
    return std::string(reads->backend_name());
  };
  counters.end(0);
  counters.end(1);
  EXPECT_STREQ(reads->backend_name(), "io_uring");  // the backend that will read
  EXPECT_EQ(read(counters.requests()[0]), "io_uring");
  EXPECT_EQ(read(by_thread), "io_uring and pread");
  EXPECT_EQ(read(counters.requests()[1]), "io_uring and pread");
}

TEST(UringReads, a_full_ring_goes_on_as_reads_end) {
  std::string refusal;
  const auto reads = UringReads::make({.threads = 2}, {}, refusal);
  if (!reads) GTEST_SKIP() << refusal;
  const ReadFile file(5'000'000);
  constexpr size_t kRequests = 5 * kRingDepth;
  std::vector<std::byte> memory(kRequests);
  std::vector<ReadRequest> requests;
  for (uint64_t i = 0; i < kRequests; ++i) {
    requests.push_back({&file.source(), i * 7'000, MutableBytes(memory).subspan(i, 1), i});
  }
  reads->submit(requests);
  std::vector<Completion> completions(kRequests);
  EXPECT_EQ(reads->wait(completions, kRequests), kRequests);
  for (const ReadRequest& request : requests) {
    EXPECT_EQ(request.into[0], file.bytes()[request.offset]);
  }
}

}  // namespace
}  // namespace fuelrail::uring
