#include "fuelrail/storage/uring/uring_reads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>

#include "fuelrail/testing/read_queue_conformance.h"

namespace fuelrail::uring {
namespace {

// Reads 200 pieces of a file through a ring whose results are altered. Returns: how many came with
// their bytes; nothing where the kernel has no io_uring.
std::optional<size_t> right_with(UringReads::AlterResult alter) {
  std::string refusal;
  const auto reads = UringReads::make({.threads = 2}, refusal, std::move(alter));
  if (!reads) return std::nullopt;
  const ReadFile file(300'000);
  std::vector<std::byte> memory(200 * 1'000);
  std::vector<ReadRequest> requests;
  for (uint64_t i = 0; i < 200; ++i) {  // neighbours, and pieces that stand alone
    const uint64_t offset = i < 100 ? i * 1'000 : 100'000 + (i - 100) * 1'900;
    requests.push_back({&file.source(), offset, MutableBytes(memory).subspan(i * 1'000, 1'000), i});
  }
  reads->submit(requests);
  size_t right = 0;
  std::vector<Completion> completions(200);
  EXPECT_EQ(reads->wait(completions, 200), 200u);
  for (const Completion& done : completions) {
    const ReadRequest& request = requests[done.tag];
    right += done.error == nullptr &&
             std::equal(request.into.begin(), request.into.end(),
                        file.bytes().begin() + static_cast<ptrdiff_t>(request.offset));
  }
  return right;
}

class UringReadsWithResult : public testing::TestWithParam<int32_t> {};

// Interrupted, cancelled with its thread, out of means, failed, and of no bytes: read again.
TEST_P(UringReadsWithResult, a_read_that_the_kernel_did_not_finish_is_read_again) {
  const auto right = right_with([](int32_t) { return GetParam(); });
  if (!right) GTEST_SKIP() << io_uring_refusal();
  EXPECT_EQ(*right, 200u);
}

INSTANTIATE_TEST_SUITE_P(Results, UringReadsWithResult,
                         testing::Values(-EINTR, -ECANCELED, -EAGAIN, -EIO, -ENOMEM, 0));

TEST(UringReads, a_short_read_is_completed) {
  std::atomic<int> count = 0;
  const auto right = right_with([&](int32_t value) {
    return count.fetch_add(1, std::memory_order_relaxed) % 2 == 0 ? value - 1 : value;
  });
  if (!right) GTEST_SKIP() << io_uring_refusal();
  EXPECT_EQ(*right, 200u);
}

TEST(UringReads, a_full_ring_goes_on_as_reads_end) {
  std::string refusal;
  const auto reads = UringReads::make({.threads = 2}, refusal);
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
