#include "fuelrail/engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

#include "fuelrail/sampler/fed_sampler.h"
#include "fuelrail/testing/engine_rig.h"
#include "fuelrail/testing/worker_conformance.h"

namespace fuelrail {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

// --- order --------------------------------------------------------------------------------------

TEST(Engine, batches_come_in_the_samplers_order_for_any_threads_prefetch_and_group) {
  Rig rig;
  rig.worker.jitter = 3000;
  const std::vector<Said> want = expected(rig, 20);  // two epochs and a half
  for (const int threads : {1, 2, 3, 8}) {
    for (const size_t prefetch : {1u, 2u, 7u}) {
      for (const size_t group : {1u, 4u, 100u}) {
        for (const int read_threads : {0, 1, 4}) {
          rig.engine = {.threads = threads,
                        .prefetch = prefetch,
                        .read = {.threads = read_threads},
                        .group = group};
          EXPECT_EQ(all_said(*rig.make(), want.size()), want)
              << threads << " threads, prefetch " << prefetch << ", group " << group << ", "
              << read_threads << " read threads";
        }
      }
    }
  }
}

TEST(Engine, last_batch_of_every_policy_and_rank_is_the_samplers) {
  for (const LastBatch last :
       {LastBatch::kShort, LastBatch::kDrop, LastBatch::kPad, LastBatch::kWrap}) {
    for (const uint32_t world_size : {1u, 3u, 7u}) {
      for (uint32_t rank = 0; rank < world_size; ++rank) {
        Rig rig;
        rig.sampling.order.last_batch = last;
        rig.sampling.order.shard = {rank, world_size};
        EXPECT_EQ(all_said(*rig.make(), 12), expected(rig, 12)) << rank << " of " << world_size;
      }
    }
  }
}

TEST(Engine, batch_size_of_one_and_of_everything) {
  for (const uint64_t batch_size : {1u, 50u, 64u}) {
    Rig rig;
    rig.sampling.order.batch_size = batch_size;
    EXPECT_EQ(all_said(*rig.make(), 60), expected(rig, 60));
  }
}

TEST(Engine, read_ahead_of_a_few_bytes_changes_nothing) {
  for (const size_t bytes : {0u, 1u, 5000u}) {
    Rig rig;
    rig.engine.read_ahead_bytes = bytes;
    EXPECT_EQ(all_said(*rig.make(), 20), expected(rig, 20));
  }
}

TEST(Engine, batch_without_rows_is_a_batch) {
  Rig rig;
  rig.container = made_records(9);
  rig.sampling = {.records = 9, .order = {.batch_size = 4, .shard = {1, 2}}};  // 4 + 0 rows
  const auto engine = rig.make();
  EXPECT_EQ(rows_of(*engine->next().batch).size(), 4u);
  const Engine::Next last = engine->next();
  ASSERT_EQ(last.status, Engine::Status::kBatch);
  EXPECT_EQ(last.batch->shape(1), (std::vector<int64_t>{0, 4}));
  EXPECT_EQ(engine->next().status, Engine::Status::kEndOfEpoch);
  EXPECT_EQ(engine->progress(), (Progress{1, 0}));
}

TEST(Engine, record_without_bytes_reaches_the_worker) {
  class CountEmpty final : public Worker {
   public:
    void process(std::span<Task> tasks) override {
      for (Task& task : tasks) {
        *task.batch->row(0, task.row) = std::byte{task.framed.empty()};
      }
    }
  };
  const std::vector<MemoryContainer::Record> records(5);
  const auto container = std::make_shared<MemoryContainer>("memory://empty", Schema{}, records);
  Engine engine(
      container,
      std::make_unique<EpochSampler>(EpochSamplerOptions{.records = 5, .order = {.batch_size = 5}}),
      std::make_shared<BatchLayout>(std::vector<ColumnSpec>{{"empty", DType::kBool, {}}}, 5),
      [] { return std::make_unique<CountEmpty>(); }, {});
  const Engine::Next next = engine.next();
  for (size_t row = 0; row < 5; ++row) EXPECT_EQ(*next.batch->row(0, row), std::byte{1});
}

TEST(Engine, end_of_epoch_comes_once_between_epochs) {
  Rig rig;
  const auto engine = rig.make();
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (int batch = 0; batch < 7; ++batch) {
      ASSERT_EQ(engine->next().status, Engine::Status::kBatch);
    }
    ASSERT_EQ(engine->next().status, Engine::Status::kEndOfEpoch);
  }
}

TEST(Engine, sampler_that_has_ended_is_the_end_of_epoch_each_time) {
  Rig rig;
  rig.sampling.records = 0;
  const auto engine = rig.make();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(engine->next().status, Engine::Status::kEndOfEpoch);
}

TEST(Engine, next_epoch_is_fetched_over_the_end_of_this_one) {
  std::atomic<int> reads = 0;
  Rig rig;
  rig.container = std::make_shared<HookedContainer>(
      rig.container, ContainerHooks{.read = [&](uint64_t, uint64_t) { ++reads; }});
  const auto engine = rig.make();
  for (int batch = 0; batch < 7; ++batch) engine->next();  // the whole epoch
  while (reads < 50 + 2 * 8) std::this_thread::yield();    // two batches of the next one
  EXPECT_EQ(engine->next().status, Engine::Status::kEndOfEpoch);
}

// --- waiting ------------------------------------------------------------------------------------

TEST(Engine, next_gives_up_after_its_timeout_and_loses_nothing) {
  for (const milliseconds timeout : {milliseconds(-5), milliseconds(0), milliseconds(20)}) {
    Gate gate;
    Rig rig;
    const std::vector<Said> want = expected(rig, 8);
    rig.worker.before = [&](auto) { gate.pass(); };
    const auto engine = rig.make();
    EXPECT_EQ(engine->next(timeout).status, Engine::Status::kTimeout);
    EXPECT_EQ(engine->next(timeout).status, Engine::Status::kTimeout);
    EXPECT_EQ(engine->progress(), (Progress{0, 0}));
    gate.open();
    EXPECT_EQ(all_said(*engine, 8), want);
  }
}

TEST(Engine, longest_timeout_does_not_overflow) {
  Rig rig;
  EXPECT_EQ(rig.make()->next(milliseconds::max()).status, Engine::Status::kBatch);
}

TEST(Engine, polling_gets_every_batch) {
  Rig rig;
  rig.worker.jitter = 20000;
  const std::vector<Said> want = expected(rig, 16);
  const auto engine = rig.make();
  for (const Said& one : want) {
    Engine::Next next = engine->next(milliseconds(0));
    while (next.status == Engine::Status::kTimeout) next = engine->next(milliseconds(0));
    EXPECT_EQ(next.status == Engine::Status::kEndOfEpoch, one.end);
    if (next.batch) {
      EXPECT_EQ(rows_of(*next.batch), *one.rows);
    }
  }
}

// --- numbers ------------------------------------------------------------------------------------

TEST(Engine, stats_count_what_was_done) {
  Rig rig;
  rig.engine.prefetch = 1;
  rig.sampling = {.records = 50, .order = {.batch_size = 50, .last_batch = LastBatch::kDrop}};
  std::atomic<uint64_t> bytes = 0;
  rig.container = std::make_shared<HookedContainer>(
      rig.container, ContainerHooks{.read = [&](uint64_t, uint64_t n) { bytes += n; }});
  const auto engine = rig.make();
  EXPECT_EQ(engine->stats().limit, "");
  const Engine::Next first = engine->next();
  Stats stats = engine->stats();
  while (stats.process.items < 100) stats = engine->stats();  // the batch ahead
  EXPECT_EQ(stats.consumer.items, 1u);
  EXPECT_EQ(stats.consumer.bytes, 50u * 13);
  EXPECT_EQ(stats.slots_lent, 1u);
  EXPECT_GE(stats.counts.tolerated, 16u);
  EXPECT_GT(stats.seconds, 0);
  EXPECT_THAT(stats.limit, ::testing::AnyOf("fetch", "process", "consumer"));
  engine->stop();
  stats = engine->stats();
  EXPECT_EQ(stats.fetch.items, 100u);
  EXPECT_EQ(stats.fetch.bytes, bytes.load());
  EXPECT_EQ(stats.process.items, 100u);
  EXPECT_EQ(stats.process.bytes, 100u * 13);
  EXPECT_EQ(stats.counts.tolerated, 2 * 16u);  // ids 1000..1049 that 3 divides
  EXPECT_EQ(stats.slots_lent, 1u);
}

// --- the test worker is a worker ----------------------------------------------------------------

struct RecordWorkers {
  static std::vector<WorkerCase> cases() {
    const auto container = made_records(12);
    return {{.name = "record worker",
             .container = container,
             .columns = record_layout(1)->columns(),
             .make = record_worker_factory(container, {.bad = {5, 9}}),
             .good = {0, 3, 7, 11},
             .bad = {5, 9}}};
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(RecordWorker, WorkerConformance, RecordWorkers);

}  // namespace
}  // namespace fuelrail
