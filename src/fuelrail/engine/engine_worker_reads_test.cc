// Workers that read their own records.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fuelrail/testing/engine_rig.h"
#include "fuelrail/testing/file_records.h"
#include "fuelrail/testing/forwarding_read_queue.h"

namespace fuelrail {
namespace {

constexpr uint64_t kLargeRecords = 60;

// Records of 17 to 77 KB.
std::shared_ptr<const MemoryContainer> large_records() {
  std::vector<MemoryContainer::Record> records;
  for (uint64_t i = 0; i < kLargeRecords; ++i) {
    const std::string bytes((17 << 10) + i * 997, static_cast<char>('a' + i % 26));
    records.push_back({.fields = {bytes}, .id = i});
  }
  return std::make_shared<MemoryContainer>("memory://large", Schema{{{.name = "bytes"}}}, records);
}

class CountingQueue final : public ForwardingReadQueue<> {
 public:
  CountingQueue(std::unique_ptr<ReadQueue> inner, std::atomic<size_t>& submitted)
      : ForwardingReadQueue(std::move(inner)), submitted_(submitted) {}
  void submit(std::span<const ReadRequest> requests) override {
    submitted_ += requests.size();
    ForwardingReadQueue::submit(requests);
  }

 private:
  std::atomic<size_t>& submitted_;
};

// An engine over records that are in the page cache if `is_cached` says so.
struct CachedRecords {
  explicit CachedRecords(std::function<bool(uint64_t offset)> is_cached) {
    rig.container =
        std::make_shared<HookedContainer>(std::make_shared<FileRecords>(large_records()),
                                          ContainerHooks{.is_cached = std::move(is_cached)});
    rig.sampling.records = kLargeRecords;
    rig.engine.make_queue = [this](const ReadOptions& options, const ReadQueueCalls& calls) {
      return std::make_unique<CountingQueue>(make_read_queue(options, calls), submitted);
    };
  }
  std::atomic<size_t> submitted = 0;  // to the read queue
  Rig rig;
};

TEST(EngineWorkerReads, read_all_records_that_are_cached) {
  CachedRecords cached([](uint64_t) { return true; });
  const auto engine = cached.rig.make();
  EXPECT_EQ(all_said(*engine, 30), expected(cached.rig, 30));
  EXPECT_EQ(cached.submitted, 0u);
  EXPECT_GE(engine->stats().fetch.items, 3 * kLargeRecords);
  EXPECT_GE(engine->stats().fetch.bytes, uint64_t{3 * kLargeRecords} * (17 << 10));
}

TEST(EngineWorkerReads, end_with_the_first_record_that_is_not_cached) {
  std::atomic<size_t> tries = 0;
  CachedRecords cached([&](uint64_t) { return ++tries, false; });
  EXPECT_EQ(all_said(*cached.rig.make(), 30), expected(cached.rig, 30));
  EXPECT_GE(cached.submitted, 3 * kLargeRecords);
}

TEST(EngineWorkerReads, begin_again_once_records_are_cached) {
  std::atomic<bool> is_cached = false;
  CachedRecords cached([&](uint64_t) { return is_cached.load(); });
  const auto engine = cached.rig.make();
  std::vector<Said> said = all_said(*engine, 10);
  is_cached = true;
  size_t before = 0;
  do {
    before = cached.submitted;
    for (const Said& one : all_said(*engine, 60)) said.push_back(one);
  } while (cached.submitted != before);
  EXPECT_EQ(said, expected(cached.rig, said.size()));
}

TEST(EngineWorkerReads, are_for_no_backend_that_was_asked_for_and_no_direct_reads) {
  std::atomic<size_t> tries = 0;
  CachedRecords cached([&](uint64_t) { return ++tries, true; });
  cached.rig.engine.read.backend = ReadBackend::kPread;
  EXPECT_EQ(all_said(*cached.rig.make(), 10), expected(cached.rig, 10));
  cached.rig.engine.read = {.direct = true};
  EXPECT_EQ(all_said(*cached.rig.make(), 10), expected(cached.rig, 10));
  EXPECT_EQ(tries, 0u);
}

TEST(EngineWorkerReads, are_for_records_of_middle_size) {
  std::atomic<size_t> tries = 0;
  std::vector<MemoryContainer::Record> records;
  for (uint64_t i = 0; i < 20; ++i) {
    records.push_back({.fields = {std::string(i % 2 == 0 ? 1'000 : 2'000'000, 'x')}, .id = i});
  }
  CachedRecords cached([](uint64_t) { return true; });
  cached.rig.container = std::make_shared<HookedContainer>(
      std::make_shared<FileRecords>(std::make_shared<MemoryContainer>(
          "memory://mixed", Schema{{{.name = "bytes"}}}, records)),
      ContainerHooks{.is_cached = [&](uint64_t) { return ++tries, true; }});
  cached.rig.sampling.records = 20;
  EXPECT_EQ(all_said(*cached.rig.make(), 10), expected(cached.rig, 10));
  EXPECT_EQ(tries, 0u);
}

// Whether a record is cached changes with each try, there are bad records, and the limit on buffers
// is that of one record: nothing may wait forever.
TEST(EngineWorkerReads, give_the_same_batches_whatever_is_cached_within_any_limit) {
  for (const uint32_t share : {1u, 30u, 60u, 63u}) {  // of 64 tries
    for (const bool skip : {false, true}) {
      for (const size_t limit : {size_t{1}, size_t{200'000}, size_t{32} << 20}) {
        std::atomic<uint32_t> tries = share;
        CachedRecords cached([&](uint64_t offset) {
          return (++tries * 2654435761u + static_cast<uint32_t>(offset)) >> 26 < share;
        });
        cached.rig.engine.read_ahead_bytes = limit;
        cached.rig.engine.max_read_threads = 64;
        cached.rig.engine.group = 3;
        if (skip) {
          cached.rig.policy.on_error = OnError::kSkip;
          cached.rig.worker.bad = {3, 4, 5, 30, 59};
        }
        EXPECT_EQ(all_said(*cached.rig.make(), 60), expected(cached.rig, 60));
      }
    }
  }
}

TEST(EngineWorkerReads, can_be_restarted_and_stopped_at_any_batch) {
  std::atomic<uint32_t> tries = 0;
  CachedRecords cached([&](uint64_t) { return ++tries % 40 != 0; });
  for (uint32_t batches = 0; batches < 20; ++batches) {
    const auto engine = cached.rig.make();
    all_said(*engine, batches);
    if (batches % 2 == 0) continue;
    engine->restart(cached.rig.sampler());
    EXPECT_EQ(all_said(*engine, 9), expected(cached.rig, 9));
  }
}

}  // namespace
}  // namespace fuelrail
