// How the engine reads: on which threads, into which buffers, and what does not wait for reads.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fuelrail/testing/engine_rig.h"
#include "fuelrail/testing/file_records.h"
#include "fuelrail/testing/forwarding_read_queue.h"
#include "fuelrail/testing/turnstile.h"

namespace fuelrail {
namespace {

// Reports when its user sleeps until the only remaining read ends.
class WatchedQueue final : public ForwardingReadQueue<> {
 public:
  WatchedQueue(std::unique_ptr<ReadQueue> inner, std::atomic<bool>& waits_for_last)
      : ForwardingReadQueue(std::move(inner)), waits_for_last_(waits_for_last) {}
  size_t wait(std::span<Completion> into, size_t at_least) override {
    if (at_least > 0 && in_flight() == 1) waits_for_last_ = true;
    return ForwardingReadQueue::wait(into, at_least);
  }

 private:
  std::atomic<bool>& waits_for_last_;
};

TEST(EngineReads, a_batch_that_is_due_is_read_though_no_read_before_it_ends) {
  constexpr uint64_t kRows = 4;
  Gate late_read;
  const auto records = made_records(4'000);
  const uint64_t late_offset = records->extent(3 * kRows - 1).offset;
  ContainerHooks hooks;
  hooks.read = [&](uint64_t offset, uint64_t) {
    if (offset == late_offset) late_read.pass();
  };
  Rig rig;
  rig.container = std::make_shared<HookedContainer>(records, hooks);
  rig.sampling = {.records = 4'000, .order = {.batch_size = kRows}};
  rig.engine = {.threads = 1, .prefetch = 3, .max_read_threads = 0, .group = 1};
  Gate worker;
  rig.worker.before = [&](auto) { worker.pass(); };
  std::atomic<bool> waits_for_last = false;
  rig.engine.make_queue = [&](const ReadOptions& options, const ReadQueueCalls& calls) {
    return std::make_unique<WatchedQueue>(make_read_queue(options, calls), waits_for_last);
  };
  const auto engine = rig.make();
  EXPECT_EQ(engine->next(std::chrono::milliseconds(0)).status, Engine::Status::kTimeout);
  EXPECT_TRUE(within_patience([&] { return waits_for_last.load(); }));
  worker.open();
  // After two batches were returned, the fifth is read, although the last record of the third is
  // not.
  std::vector<Said> said;
  for (int batch = 0; batch < 2; ++batch) said.push_back(said_by(*engine));
  EXPECT_TRUE(within_patience([&] { return engine->stats().fetch.items >= 5 * kRows - 1; }));
  late_read.open();
  while (said.size() < 10) said.push_back(said_by(*engine));
  EXPECT_EQ(said, expected(rig, 10));
}

// Workers are busy, so the fetch thread waits for four reads, one of which is held up. Then the
// workers have only the other three records to process.
TEST(EngineReads, what_has_been_read_waits_for_no_other_read_once_workers_want_it) {
  constexpr size_t kRows = 5;
  Gate late_read;
  const auto records = made_records(4'000);
  const uint64_t late_offset = records->extent(kRows - 1).offset;
  ContainerHooks hooks;
  std::atomic<size_t> read = 0;
  hooks.read = [&](uint64_t offset, uint64_t) {
    if (offset == late_offset) late_read.pass();
    ++read;
  };
  Rig rig;
  rig.container = std::make_shared<HookedContainer>(records, hooks);
  rig.sampling = {.records = 4'000, .order = {.batch_size = kRows}};
  rig.engine = {.threads = 1,
                .prefetch = 1,
                .read = {.threads = 2},
                .max_read_threads = 0,
                .group = kRows - 1};
  Gate worker;
  std::atomic<size_t> processed = 0;
  rig.worker.before = [&](std::span<const Task> tasks) {
    worker.pass();
    processed += tasks.size();
  };
  const auto engine = rig.make();
  EXPECT_EQ(engine->next(std::chrono::milliseconds(0)).status, Engine::Status::kTimeout);
  EXPECT_TRUE(within_patience([&] { return read >= kRows - 1; }));
  worker.open();
  EXPECT_TRUE(within_patience([&] { return processed >= kRows - 1; }));
  late_read.open();
  EXPECT_EQ(all_said(*engine, 5), expected(rig, 5));
}

TEST(EngineReads, every_backend_gives_the_same_batches_direct_or_not) {
  Rig rig;
  rig.container = std::make_shared<FileRecords>(300);
  rig.sampling.records = 300;
  for (const Shuffle shuffle : {Shuffle::kNone, Shuffle::kFull}) {
    rig.sampling.order.shuffle = shuffle;
    const std::vector<Said> want = expected(rig, 80);
    for (const int threads : {0, 3}) {
      for (const ReadBackend backend : {ReadBackend::kPread, ReadBackend::kAuto}) {
        for (const bool direct : {false, true}) {
          rig.engine.read.threads = threads;
          rig.engine.read.backend = backend;
          rig.engine.read.direct = direct;
          EXPECT_EQ(all_said(*rig.make(), 80), want);
        }
      }
    }
  }
}

TEST(EngineReads, buffers_of_what_is_not_read_directly_are_no_larger) {
  std::vector<MemoryContainer::Record> records(200, {.fields = {std::string(4096 - 8, 'x')}});
  Rig rig;
  rig.container =
      std::make_shared<MemoryContainer>("memory://equal", Schema{{{.name = "bytes"}}}, records);
  rig.sampling = {.records = 200, .order = {.batch_size = 200}};
  Gate gate;
  rig.worker.before = [&](auto) { gate.pass(); };
  rig.engine.read_ahead_bytes = 40 * 4096;
  rig.engine.read.direct = true;
  std::atomic<int> warnings = 0;
  rig.engine.warn = [&](const std::string&) { ++warnings; };
  const auto engine = rig.make();
  EXPECT_EQ(engine->next(std::chrono::milliseconds(0)).status, Engine::Status::kTimeout);
  while (engine->stats().fetch.waiting_seconds < 0.02) std::this_thread::yield();
  EXPECT_GE(engine->stats().fetch.items, 30u);  // 40 records, not 10
  EXPECT_EQ(warnings, 1);
  gate.open();
  EXPECT_EQ(said_by(*engine), expected(rig, 1)[0]);
}

TEST(EngineReads, stats_name_the_backend) {
  Rig rig;
  rig.engine.read.backend = ReadBackend::kPread;
  const auto engine = rig.make();
  EXPECT_EQ(engine->stats().read_backend, "");
  engine->next();
  EXPECT_EQ(engine->stats().read_backend, "pread");
}

}  // namespace
}  // namespace fuelrail
