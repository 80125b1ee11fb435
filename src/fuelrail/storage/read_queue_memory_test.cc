// Whichever allocation fails, a request completes once, or was not submitted. The test program
// chooses which of its allocations fail.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"
#include "fuelrail/storage/memory/memory_file_system.h"
#include "fuelrail/storage/read_queue.h"
#include "fuelrail/testing/read_file.h"

#ifndef FUELRAIL_SANITIZED  // sanitizers' allocators end the process instead of throwing

namespace {

// The number of allocations that still succeed from now on, and the number of following ones that
// fail.
std::atomic<int64_t> succeeding = INT64_MAX;
std::atomic<int64_t> failing = 0;

bool fails() {
  if (succeeding.load(std::memory_order_relaxed) == INT64_MAX) return false;
  if (succeeding.fetch_sub(1, std::memory_order_relaxed) > 0) return false;
  return failing.fetch_sub(1, std::memory_order_relaxed) > 0;
}

}  // namespace

void* operator new(size_t bytes) {
  void* const memory = fails() ? nullptr : std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return fails() ? nullptr : std::malloc(bytes);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace fuelrail {
namespace {

class FailingAllocations {
 public:
  FailingAllocations(int64_t after, int64_t count) {
    failing.store(count, std::memory_order_relaxed);
    succeeding.store(after, std::memory_order_relaxed);
  }
  ~FailingAllocations() { succeeding.store(INT64_MAX, std::memory_order_relaxed); }
  FailingAllocations(const FailingAllocations&) = delete;
  FailingAllocations& operator=(const FailingAllocations&) = delete;
};

constexpr size_t kRequests = 60;

// Neighbours, gaps, a source without a descriptor, wrong checksums, and bytes past the end.
class Reads {
 public:
  explicit Reads(const ReadFile& file)
      : file_(file), memory_(memory_source("memory", file.bytes())) {
    for (uint64_t i = 0; i < kRequests; ++i) {
      const Source* const source = i % 4 == 3 ? memory_.get() : &file_.source();
      const uint64_t offset = i % 20 == 19 ? 99'990 : i * (i < 30 ? 100 : 1'000);
      requests_.push_back(
          {source, offset, MutableBytes(into_).subspan(i * 100, 100), i, {}, std::nullopt});
      if (offset + 100 > file_.bytes().size()) continue;
      requests_[i].crc = crc32(Bytes(file_.bytes()).subspan(offset, 100)) + (i % 5 == 2 ? 1 : 0);
    }
  }

  // Returns: whether they were submitted.
  bool submit(ReadQueue& queue) const {
    try {
      queue.submit(requests_);
      return true;
    } catch (const std::bad_alloc&) {
    } catch (const IoError&) {  // no thread
    }
    return false;
  }

  // Waits for all completions, without allocating.
  void collect(ReadQueue& queue) {
    std::array<Completion, 7> done;
    while (queue.in_flight() > 0) {
      const size_t count = queue.wait(done, 1);
      for (size_t i = 0; i < count; ++i) {
        ++completed_[done[i].tag];
        failed_[done[i].tag] = done[i].error != nullptr;
        done[i].error = nullptr;
      }
    }
  }

  // Requests without an error have the right bytes, and requests that must fail have an error.
  void check() const {
    for (const ReadRequest& request : requests_) {
      ASSERT_EQ(completed_[request.tag], 1) << request.tag;
      if (!request.crc || request.tag % 5 == 2) {
        EXPECT_TRUE(failed_[request.tag]) << request.tag;
      }
      if (failed_[request.tag]) continue;
      EXPECT_TRUE(std::equal(request.into.begin(), request.into.end(),
                             file_.bytes().begin() + static_cast<ptrdiff_t>(request.offset)));
    }
  }

 private:
  const ReadFile& file_;
  const std::shared_ptr<const Source> memory_;
  std::vector<std::byte> into_ = std::vector<std::byte>(kRequests * 100);
  std::vector<ReadRequest> requests_;
  std::array<int, kRequests> completed_{};
  std::array<bool, kRequests> failed_{};
};

class ReadQueueWithoutMemory : public ::testing::TestWithParam<ReadOptions> {};

TEST_P(ReadQueueWithoutMemory, every_request_completes_once_or_was_not_submitted) {
  const ReadFile file(100'000);
  for (const int64_t count : {1, 6, 200}) {
    bool over = false;
    for (int64_t after = 0; !over; after += after < 40 ? 1 : 7 + count / 2) {
      Reads reads(file);
      const auto queue = make_read_queue(GetParam());
      bool submitted = false;
      {
        const FailingAllocations failures(after, count);
        submitted = reads.submit(*queue);
        EXPECT_NO_THROW(queue->set_threads(300));
        if (submitted) reads.collect(*queue);
        over = failing.load(std::memory_order_relaxed) == count;  // no allocation failed
      }
      EXPECT_EQ(queue->in_flight(), 0u);
      if (!submitted) {
        ASSERT_TRUE(reads.submit(*queue));  // the queue stays usable
        reads.collect(*queue);
      }
      reads.check();
      ASSERT_FALSE(HasFailure()) << "after " << after << ", " << count << " failing";
      ASSERT_LT(after, 100'000);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, ReadQueueWithoutMemory,
                         ::testing::Values(ReadOptions{.threads = 0},
                                           ReadOptions{.threads = 3,
                                                       .backend = ReadBackend::kPread},
                                           ReadOptions{.threads = 3}));

}  // namespace
}  // namespace fuelrail

#endif
