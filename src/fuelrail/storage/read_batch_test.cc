#include "fuelrail/storage/read_batch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"
#include "fuelrail/testing/forked.h"
#include "fuelrail/testing/idle_reads.h"
#include "fuelrail/testing/read_queue_conformance.h"

namespace fuelrail {
namespace {

// Leaves no threads for the following tests, some of which fork.
class ReadBatch : public ::testing::Test {
 protected:
  ~ReadBatch() override { free_idle_read_queues(); }
};

// A source whose reads wait, like those of a file that is not in the page cache.
class UncachedSource final : public Source {
 public:
  explicit UncachedSource(const ReadFile& file) : file_(file) {}
  uint64_t size_bytes() const override { return file_.source().size_bytes(); }
  const std::string& uri() const override { return file_.source().uri(); }
  void read(uint64_t offset, MutableBytes into) const override {
    file_.source().read(offset, into);
  }

 private:
  const ReadFile& file_;
};

struct Batch {
  std::vector<std::vector<std::byte>> memory;
  std::vector<ReadRequest> requests;
};

Batch batch_of(const Source& source, const std::vector<std::byte>& bytes, size_t count,
               uint64_t seed) {
  std::mt19937_64 random(seed);
  Batch batch;
  for (uint64_t i = 0; i < count; ++i) {
    const size_t length = random() % 3'000;
    const uint64_t offset = random() % (bytes.size() - length);
    batch.memory.emplace_back(length);
    batch.requests.push_back({.source = &source,
                              .offset = offset,
                              .into = batch.memory.back(),
                              .tag = i,
                              .crc = crc32(Bytes(bytes).subspan(offset, length))});
  }
  return batch;
}

bool holds(const Batch& batch, const std::vector<std::byte>& bytes) {
  return std::all_of(batch.requests.begin(), batch.requests.end(), [&](const ReadRequest& request) {
    return std::equal(request.into.begin(), request.into.end(),
                      bytes.begin() + static_cast<ptrdiff_t>(request.offset));
  });
}

const std::vector<ReadOptions> kEveryWay{{},
                                         {.threads = 1, .backend = ReadBackend::kPread},
                                         {.threads = 4, .backend = ReadBackend::kPread},
                                         {.threads = 2, .direct = true}};

TEST_F(ReadBatch, every_request_has_its_bytes) {
  const ReadFile file(300'000);
  const UncachedSource uncached(file);
  for (const ReadOptions& options : kEveryWay) {
    for (const size_t count : {0, 1, 2, 3, 64, 1'000, 5'000}) {
      for (const Source* source : {&file.source(), static_cast<const Source*>(&uncached)}) {
        const Batch batch = batch_of(*source, file.bytes(), count, count);
        EXPECT_TRUE(read_batch(batch.requests, options).empty()) << count;
        EXPECT_TRUE(holds(batch, file.bytes())) << count;
      }
    }
  }
}

TEST_F(ReadBatch, a_file_out_of_the_page_cache_is_read_as_well) {
  const ReadFile file(3'000'000);
  const int descriptor = file.source().descriptor();
  for (const ReadOptions& options : kEveryWay) {
    ::fsync(descriptor);
    ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
    const Batch batch = batch_of(file.source(), file.bytes(), 200, 5);
    EXPECT_TRUE(read_batch(batch.requests, options).empty());
    EXPECT_TRUE(holds(batch, file.bytes()));
  }
}

TEST_F(ReadBatch, those_that_fail_are_named_and_the_others_have_their_bytes) {
  const ReadFile file(300'000);
  const UncachedSource uncached(file);
  for (const ReadOptions& options : kEveryWay) {
    for (const Source* source : {&file.source(), static_cast<const Source*>(&uncached)}) {
      Batch batch = batch_of(*source, file.bytes(), 300, 9);
      batch.requests[17].crc = *batch.requests[17].crc + 1;
      batch.requests[40].offset = 299'999;
      batch.memory[40].resize(10);
      batch.requests[40].into = batch.memory[40];
      std::map<uint64_t, std::string> failed;
      for (const Completion& completion : read_batch(batch.requests, options)) {
        failed[completion.tag] = message_of(completion.error);
      }
      ASSERT_EQ(failed.size(), 2u);
      EXPECT_NE(failed.at(17).find("checksum is wrong"), std::string::npos);
      EXPECT_NE(failed.at(40).find("ends before"), std::string::npos);
      batch.requests.erase(batch.requests.begin() + 40);
      EXPECT_TRUE(holds(batch, file.bytes()));
    }
  }
}

TEST_F(ReadBatch, many_threads_read_at_once) {
  const ReadFile file(300'000);
  const UncachedSource uncached(file);
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 64; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t round = 0; round < 5; ++round) {
        const Source& source = t % 2 == 0 ? static_cast<const Source&>(uncached) : file.source();
        const Batch batch = batch_of(source, file.bytes(), 30, t * 5 + round);
        EXPECT_TRUE(read_batch(batch.requests, {.threads = 4}).empty());
        EXPECT_TRUE(holds(batch, file.bytes()));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(ReadBatch, a_forked_child_reads_after_its_parent_has) {
  const ReadFile file(300'000);
  const UncachedSource uncached(file);
  const Batch first = batch_of(uncached, file.bytes(), 30, 1);
  EXPECT_TRUE(read_batch(first.requests, {}).empty());
  if (!child_can_start_threads()) GTEST_SKIP() << "a forked child can start no thread here";
  EXPECT_EQ(in_forked_child([&]() -> std::string {
              const Batch second = batch_of(uncached, file.bytes(), 30, 2);
              if (!read_batch(second.requests, {}).empty()) return "failed";
              return holds(second, file.bytes()) ? "right" : "wrong";
            }),
            "right");
  const Batch third = batch_of(uncached, file.bytes(), 30, 3);
  EXPECT_TRUE(read_batch(third.requests, {}).empty());
}

TEST(ReadAtOnce, waits_for_storage_once_and_says_which_reads_failed) {
  const ReadFile file(50'000);
  const UncachedSource uncached(file);
  for (const Source* source : {static_cast<const Source*>(&uncached), &file.source()}) {
    Batch batch = batch_of(*source, file.bytes(), 40, 3);
    EXPECT_TRUE(read_at_once(batch.requests).empty());
    EXPECT_TRUE(holds(batch, file.bytes()));
    batch.requests[7].offset = 60'000;
    batch.requests[23].offset = 60'000;
    std::vector<uint64_t> failed;
    for (const Completion& completion : read_at_once(batch.requests)) {
      EXPECT_THROW(std::rethrow_exception(completion.error), TruncatedError);
      failed.push_back(completion.tag);
    }
    std::ranges::sort(failed);
    EXPECT_EQ(failed, (std::vector<uint64_t>{7, 23}));
    EXPECT_THROW(read_all(batch.requests), TruncatedError);
  }
  EXPECT_TRUE(read_at_once({}).empty());
}

}  // namespace
}  // namespace fuelrail
