// How far ahead the engine reads, how much at the same time, and within which limits.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/sampler/fed_sampler.h"
#include "fuelrail/testing/engine_rig.h"
#include "fuelrail/testing/turnstile.h"

namespace fuelrail {
namespace {

// An engine with slow storage and faster workers.
struct SlowStorage {
  SlowStorage(uint64_t batch_size, size_t prefetch,
              std::shared_ptr<const Container> records = made_records(4'000)) {
    rig.sampling = {.records = records->size(), .order = {.batch_size = batch_size}};
    rig.container = std::make_shared<HookedContainer>(
        std::move(records),
        ContainerHooks{.read = [this](uint64_t offset, uint64_t) { storage.pass(offset); }});
    // Each record is passed on when it arrives: no read waits for one that the test holds back.
    rig.engine = {.threads = 2, .prefetch = prefetch, .group = 1};
    rig.worker.before = [this](std::span<const Task> tasks) {
      std::lock_guard lock(mutex);
      for (const Task& task : tasks) slots.insert(task.batch->owner().get());
      processed += tasks.size();
      done.notify_all();
    };
  }
  // Lets `reads` reads end and waits until workers have taken their records. Returns: the total
  // number taken.
  size_t answer(size_t reads) {
    const size_t passed = storage.release(reads);
    std::unique_lock lock(mutex);
    EXPECT_TRUE(done.wait_for(lock, kPatience, [&] { return processed >= passed; }));
    return passed;
  }

  // The first round of reads. Its first read is not counted, because no worker has finished a
  // record yet.
  void answer_first(const Engine& engine) {
    EXPECT_TRUE(storage.await(4u));
    const uint64_t before = engine.stats().process.bytes;
    answer(1);
    while (engine.stats().process.bytes == before) std::this_thread::yield();
    answer(3);
  }

  Turnstile storage;
  Rig rig;
  std::mutex mutex;
  std::condition_variable done;
  size_t processed = 0;
  std::set<const void*> slots;
};

TEST(EngineReadAhead, in_flight_double_while_workers_wait_for_storage) {
  SlowStorage slow(2'000, 2);
  const auto engine = slow.rig.make();
  EXPECT_EQ(engine->next(std::chrono::milliseconds(0)).status, Engine::Status::kTimeout);
  slow.answer_first(*engine);
  for (const size_t reads : {8u, 16u, 32u, 64u, 128u}) {
    ASSERT_TRUE(slow.storage.await(reads)) << reads;
    slow.answer(reads);
  }
  EXPECT_TRUE(slow.storage.await(256u));
  EXPECT_EQ(engine->stats().reads_at_once, 256u);
  slow.storage.open();
  EXPECT_EQ(said_by(*engine), expected(slow.rig, 1)[0]);
}

// Batches of 4 rows, two of them prefetched: the reads of these 8 rows alone would not keep the
// workers busy.
TEST(EngineReadAhead, in_flight_are_more_than_what_is_prefetched_holds_and_slots_are_not) {
  constexpr size_t kPrefetch = 2;
  SlowStorage slow(4, kPrefetch);
  const auto engine = slow.rig.make();
  std::vector<Said> said;
  std::atomic<size_t> taken = 0;
  std::thread consumer([&] {
    for (; taken < 600; ++taken) said.push_back(said_by(*engine));
  });
  slow.answer_first(*engine);
  for (const size_t reads : {8u, 16u, 32u}) {
    EXPECT_TRUE(slow.storage.await(reads)) << reads;
    const size_t passed = slow.answer(reads);
    while (taken < passed / 4) std::this_thread::yield();  // else no worker waits for storage
  }
  slow.storage.open();
  consumer.join();
  EXPECT_EQ(said, expected(slow.rig, 600));
  EXPECT_LE(slow.slots.size(), kPrefetch + 2);  // the user holds one of them
}

// Batches of 8 rows, one of them prefetched, read so far ahead that the limit is reached. A later
// batch holds a record larger than the limit, and workers may not begin that batch before the next
// one, which has a bad record, has been returned. Until then the large record and the six before it
// keep their buffers, which are more than the four that are always admitted.
struct FullReadAhead : SlowStorage {
  static constexpr uint64_t kRows = 8;
  static constexpr uint64_t kNext = 3;  // a batch
  static constexpr uint64_t kBad = kRows * kNext;
  static constexpr uint64_t kLarge = kBad + 2 * kRows + 6;

  FullReadAhead() : SlowStorage(kRows, 1, records()) {
    rig.engine.read_ahead_bytes = 128 * 1024;
    rig.policy = {.on_error = OnError::kSkip, .max_bad = Allowance{.count = 100}};
    rig.worker.bad = {kBad};
    rig.worker.before = [this, count = rig.worker.before](std::span<const Task> tasks) {
      count(tasks);
      if (tasks.front().entry.record == kBad) bad_record.pass();
    };
  }
  static std::shared_ptr<const Container> records() {
    std::vector<MemoryContainer::Record> made(4'000);
    for (uint64_t i = 0; i < made.size(); ++i) {
      made[i] = {.fields = {std::string(i == kLarge ? 200'000 : 100, static_cast<char>(i))},
                 .id = i};
    }
    return std::make_shared<MemoryContainer>("memory://large", Schema{{{.name = "bytes"}}}, made);
  }
  // The substitute for a bad record, in an order in which no record occurs twice.
  uint64_t substitute_of(uint64_t record) const {
    const auto sampler = rig.sampler();
    std::optional<BatchPlan> plan;
    for (uint64_t batch = 0; batch <= record / kRows; ++batch) plan = sampler->next();
    return used_entry(rig, *sampler, *plan, record % kRows).record;
  }
  // Takes the batches before batch kNext, whose bad record waits at its gate, and waits until all
  // records up to the large one are read. The depth must double once for this, which happens in the
  // first round: with eight reads, sixteen rows are planned ahead, and at most eight rows are not
  // taken by workers when the large record's batch is next. No read waits for another or for a
  // worker.
  void fill(Engine& engine) {
    std::thread consumer([&] {
      said = all_said(engine, kNext);
      handed_out = said.size();
    });
    answer_first(engine);
    storage.open();
    consumer.join();
    EXPECT_TRUE(within_patience([&] { return engine.stats().fetch.items > kLarge; }));
    EXPECT_EQ(engine.stats().fetch.items, kLarge + 1);
  }
  // The following results of `next`, each within a generous time limit.
  void go_on(Engine& engine) {
    while (said.size() < 40) {
      const Engine::Next next = engine.next(std::chrono::seconds(30));
      ASSERT_EQ(next.status, Engine::Status::kBatch) << "batch " << said.size();
      said.push_back({.rows = rows_of(*next.batch)});
      handed_out = said.size();
    }
  }

  Gate bad_record;
  std::vector<Said> said;
  std::atomic<size_t> handed_out = 0;
};

TEST(EngineReadAhead, a_substitute_finds_room_where_batches_far_ahead_fill_the_bound) {
  FullReadAhead full;
  const auto engine = full.rig.make();
  full.fill(*engine);
  full.bad_record.open();
  full.go_on(*engine);
  EXPECT_EQ(full.said, expected(full.rig, full.said.size()));
}

// The record after the large one is not found. When the large one has been read, the limit is
// reached and a substitute is needed.
TEST(EngineReadAhead,
     a_substitute_far_ahead_waits_until_its_batch_is_due_and_keeps_nobody_waiting) {
  constexpr uint64_t kFar = FullReadAhead::kLarge + 1;
  FullReadAhead full;
  full.rig.worker.bad.insert(kFar);
  const uint64_t substitute = full.rig.container->extent(full.substitute_of(kFar)).offset;
  std::atomic<size_t> read_after = 0;  // batches
  ContainerHooks hooks;
  hooks.extent = [](uint64_t record) {
    if (record == kFar) throw IoError("the disk is on fire");
  };
  hooks.read = [&](uint64_t offset, uint64_t) {
    if (offset == substitute) read_after = full.handed_out.load();
  };
  full.rig.container = std::make_shared<HookedContainer>(full.rig.container, hooks);
  const auto engine = full.rig.make();
  full.fill(*engine);
  full.bad_record.open();
  full.go_on(*engine);
  EXPECT_GT(read_after, FullReadAhead::kNext);
  EXPECT_EQ(full.said, expected(full.rig, full.said.size()));
}

// A caller that feeds an order produces only as many batches as it takes, so planning more would
// wait forever.
TEST(EngineReadAhead, fed_order_is_asked_for_no_more_than_is_prefetched) {
  constexpr size_t kPrefetch = 2;
  SlowStorage slow(4, kPrefetch);
  slow.storage.open();
  slow.rig.container = std::make_shared<HookedContainer>(
      made_records(4'000), ContainerHooks{.read = [](uint64_t, uint64_t) {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }});
  std::atomic<size_t> handed_out = 0;
  std::atomic<size_t> most_ahead = 0;
  size_t asked = 0;
  auto feed = [&]() -> std::optional<FedBatch> {
    const uint64_t first = 4 * asked++;
    most_ahead = std::max<size_t>(most_ahead, asked - handed_out);
    return FedBatch{{first, first + 1, first + 2, first + 3}, false};
  };
  Engine engine(slow.rig.container, std::make_unique<FedSampler>(4'000, feed), slow.rig.layout(),
                record_worker_factory(slow.rig.container, {}), slow.rig.engine);
  for (; handed_out < 200; ++handed_out) ASSERT_TRUE(said_by(engine).rows);
  EXPECT_GT(engine.stats().reads_at_once, 4u) << "the storage was not slow";
  engine.stop();
  EXPECT_LE(most_ahead, kPrefetch + 2);  // one is being returned and not counted yet
}

TEST(EngineReadAhead, storage_that_keeps_up_is_read_no_deeper) {
  Rig rig;
  rig.container = made_records(2'000);
  rig.sampling = {.records = 2'000, .order = {.batch_size = 500}};
  rig.engine = {.threads = 2};
  Gate gate;
  rig.worker.before = [&](auto) { gate.pass(); };
  const auto engine = rig.make();
  EXPECT_EQ(engine->next(std::chrono::milliseconds(0)).status, Engine::Status::kTimeout);
  while (engine->stats().fetch.items < 500) std::this_thread::yield();
  EXPECT_EQ(engine->stats().reads_at_once,
            4u);  // although no records waited when the first ones arrived
  gate.open();
  EXPECT_EQ(said_by(*engine), expected(rig, 1)[0]);
}

// An order of one batch, as in each call of a map-style dataset.
std::unique_ptr<Sampler> order_of_one_batch(uint64_t records, uint64_t rows) {
  FedBatch batch;
  for (uint64_t i = 0; i < rows; ++i) batch.records.push_back(100 + i);
  return std::make_unique<FedSampler>(records,
                                      [batch, fed = false]() mutable -> std::optional<FedBatch> {
                                        if (std::exchange(fed, true)) return std::nullopt;
                                        return batch;
                                      });
}

TEST(EngineReadAhead, storage_that_keeps_up_is_read_no_deeper_however_often_an_order_begins) {
  constexpr uint64_t kRows = 64;
  Rig rig;
  rig.container = made_records(500);
  std::atomic<uint64_t> due = 0;
  std::unique_ptr<Engine> engine;
  rig.worker.before = [&](auto) {  // all are read before the first is done
    while (engine->stats().fetch.items < due) std::this_thread::yield();
  };
  engine = std::make_unique<Engine>(
      rig.container, order_of_one_batch(500, kRows), record_layout(kRows),
      record_worker_factory(rig.container, rig.worker), EngineOptions{.threads = 2});
  for (int call = 0; call < 10; ++call) {
    due += kRows;
    if (call > 0) engine->restart(order_of_one_batch(500, kRows));
    ASSERT_TRUE(said_by(*engine).rows);
    EXPECT_EQ(engine->stats().reads_at_once, 4u) << "after call " << call;
  }
}

TEST(EngineReadAhead, slow_storage_is_read_deeper_though_each_batch_is_an_order_of_its_own) {
  constexpr uint64_t kRows = 64;
  SlowStorage slow(kRows, 2);
  Engine engine(slow.rig.container, order_of_one_batch(4'000, kRows), slow.rig.layout(),
                record_worker_factory(slow.rig.container, slow.rig.worker), slow.rig.engine);
  for (size_t call = 0; call < 3; ++call) {
    if (call > 0) engine.restart(order_of_one_batch(4'000, kRows));
    EXPECT_EQ(engine.next(std::chrono::milliseconds(0)).status, Engine::Status::kTimeout);
    slow.answer_first(engine);
    for (size_t left = kRows - 4; left > 0;) {
      const size_t reads = std::min(left, engine.stats().reads_at_once);
      slow.answer(reads);
      left -= reads;
    }
    ASSERT_TRUE(said_by(engine).rows);
    EXPECT_GE(engine.stats().reads_at_once, 32u) << "after call " << call;
  }
}

TEST(EngineReadAhead, depth_changes_no_batch) {
  for (const uint64_t batch_size : {1u, 3u, 16u}) {
    for (const size_t prefetch : {1u, 2u}) {
      Rig rig;
      rig.container = made_records(500);
      rig.sampling.records = 500;
      rig.sampling.order.batch_size = batch_size;
      rig.engine = {.threads = 4, .prefetch = prefetch, .read = {.threads = 1}};
      rig.worker.jitter = 2'000;
      const size_t batches = 1'200 / batch_size;
      EXPECT_EQ(all_said(*rig.make(), batches), expected(rig, batches));
    }
  }
}

}  // namespace
}  // namespace fuelrail
