#include "fuelrail/engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <random>
#include <set>
#include <stdexcept>
#include <utility>

#include "fuelrail/base/error.h"
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
                        .read_threads = read_threads,
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
        rig.order.last_batch = last;
        rig.order.shard = {rank, world_size};
        EXPECT_EQ(all_said(*rig.make(), 12), expected(rig, 12)) << rank << " of " << world_size;
      }
    }
  }
}

TEST(Engine, batch_size_of_one_and_of_everything) {
  for (const uint64_t batch_size : {1u, 50u, 64u}) {
    Rig rig;
    rig.order.batch_size = batch_size;
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
  rig.order = {.records = 9, .batch_size = 4, .shard = {1, 2}};  // 4 + 0 rows
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
      container, std::make_unique<EpochSampler>(EpochSamplerOptions{.records = 5, .batch_size = 5}),
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
  rig.order.records = 0;
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

// --- errors of rows -----------------------------------------------------------------------------

class EngineWithBadRecords : public ::testing::TestWithParam<std::vector<size_t>> {};
INSTANTIATE_TEST_SUITE_P(Rows, EngineWithBadRecords,
                         ::testing::Values(std::vector<size_t>{0}, std::vector<size_t>{3},
                                           std::vector<size_t>{7}, std::vector<size_t>{6, 1, 4},
                                           std::vector<size_t>{0, 1, 2, 3, 4, 5, 6, 7},
                                           std::vector<size_t>{8 + 2, 8 + 7, 16},
                                           std::vector<size_t>{49}));

TEST_P(EngineWithBadRecords, first_bad_row_is_the_batchs_error_and_the_next_batch_follows) {
  Rig rig;
  std::vector<uint64_t> order;
  const auto sampler = rig.sampler();
  while (order.size() < 50) {
    const std::optional<BatchPlan> plan = sampler->next();
    for (const Entry& entry : plan->entries) order.push_back(entry.record);
  }
  for (const size_t row : GetParam()) rig.worker.bad.insert(order[row]);
  rig.worker.jitter = 3000;
  const std::vector<Said> want = expected(rig, 16);
  EXPECT_GT(std::count_if(want.begin(), want.end(), [](const Said& s) { return !s.error.empty(); }),
            0);
  for (const int threads : {1, 2, 8}) {
    rig.engine.threads = threads;
    EXPECT_EQ(all_said(*rig.make(), 16), want) << threads << " threads";
  }
}

TEST(Engine, batch_with_a_bad_row_counts_as_handed) {
  Rig rig;
  rig.order.shuffle = Shuffle::kNone;
  rig.worker.bad = {10};
  const auto engine = rig.make();
  EXPECT_EQ(engine->progress(), (Progress{0, 0}));
  engine->next();
  EXPECT_EQ(engine->progress(), (Progress{0, 8}));
  EXPECT_THROW(engine->next(), CorruptError);
  EXPECT_EQ(engine->progress(), (Progress{0, 16}));
}

TEST(Engine, end_of_epoch_follows_a_last_batch_with_a_bad_row) {
  Rig rig;
  rig.order.shuffle = Shuffle::kNone;
  rig.worker.bad = {49};
  const auto engine = rig.make();
  for (int i = 0; i < 6; ++i) engine->next();
  EXPECT_THROW(engine->next(), CorruptError);
  EXPECT_EQ(engine->next().status, Engine::Status::kEndOfEpoch);
  EXPECT_EQ(engine->next().status, Engine::Status::kBatch);
}

TEST(Engine, read_error_has_the_records_place) {
  Rig rig;
  rig.order.shuffle = Shuffle::kNone;
  const uint64_t offset = rig.container->extent(10).offset;
  rig.container = std::make_shared<HookedContainer>(
      rig.container, ContainerHooks{.read = [offset](uint64_t at, uint64_t) {
        if (at == offset) throw IoError("the disk is on fire");
      }});
  const std::vector<Said> said = all_said(*rig.make(), 3);
  EXPECT_TRUE(said[0].rows);
  EXPECT_EQ(said[1].error, "memory://records: record 10, offset " + std::to_string(offset) +
                               ": the disk is on fire");
  EXPECT_TRUE(said[2].rows);
}

TEST(Engine, extent_that_throws_is_the_rows_error) {
  for (const uint64_t record : {0u, 8u, 15u, 49u}) {
    Rig rig;
    rig.order.shuffle = Shuffle::kNone;
    rig.container = std::make_shared<HookedContainer>(
        rig.container, ContainerHooks{.extent = [record](uint64_t i) {
          if (i == record) throw CorruptError("the table is wrong");
        }});
    const std::vector<Said> said = all_said(*rig.make(), 7);
    for (size_t batch = 0; batch < 7; ++batch) {
      EXPECT_EQ(said[batch].error.empty(), batch != record / 8);
    }
    EXPECT_THAT(said[record / 8].error, HasSubstr("record " + std::to_string(record)));
  }
}

TEST(Engine, every_extent_throws_and_every_batch_is_an_error) {
  Rig rig;
  rig.container = std::make_shared<HookedContainer>(
      rig.container,
      ContainerHooks{.extent = [](uint64_t) { throw CorruptError("the table is wrong"); }});
  const auto engine = rig.make();
  for (int i = 0; i < 7; ++i) EXPECT_THROW(engine->next(), CorruptError);
  EXPECT_EQ(engine->next().status, Engine::Status::kEndOfEpoch);
}

TEST(Engine, record_beyond_the_container_is_out_of_range) {
  Rig rig;
  rig.order.shuffle = Shuffle::kNone;
  rig.order.records = 51;
  const std::vector<Said> said = all_said(*rig.make(), 7);
  EXPECT_TRUE(said[5].rows);
  EXPECT_EQ(said[6].error, "record 50: there is no such record: expected below 50");
}

TEST(Engine, place_that_throws_leaves_the_error_as_it_is) {
  Rig rig;
  rig.worker.bad = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  rig.order = {.records = 10, .batch_size = 10};
  rig.container = std::make_shared<HookedContainer>(
      rig.container,
      ContainerHooks{.place = [](uint64_t) { throw CorruptError("no place either"); }});
  EXPECT_EQ(said_by(*rig.make()).error, "record 0: this record is bad");
}

TEST(Engine, record_larger_than_any_memory_is_the_rows_error) {
  class HugeRecord final : public Worker {
    void process(std::span<Task>) override { FAIL() << "nothing can have been read"; }
  };
  class HugeContainer final : public Container {
   public:
    uint64_t size() const override { return 3; }
    const Schema& schema() const override { return schema_; }
    Extent extent(uint64_t i) const override {
      return {memory_source("memory://huge", {}), 0, i == 0 ? 1ull << 63 : ~0ull};
    }
    void parse(uint64_t, Bytes, Sample&) const override {}
    Place place(uint64_t i) const override { return {"memory://huge", i, 0}; }
    Fingerprint fingerprint() const override { return {}; }
    const std::vector<std::string>& classes() const override { return classes_; }
    bool verifies_checksums() const override { return false; }

   private:
    Schema schema_;
    std::vector<std::string> classes_;
  };
  Engine engine(std::make_shared<HugeContainer>(),
                std::make_unique<EpochSampler>(EpochSamplerOptions{.records = 3}), record_layout(1),
                [] { return std::make_unique<HugeRecord>(); }, {});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(said_by(engine).error, "memory://huge: record " + std::to_string(i) +
                                         ", offset 0: there is no memory for this record");
  }
  EXPECT_EQ(engine.next().status, Engine::Status::kEndOfEpoch);
}

// A worker that throws, for a span that has a bad record, what `thrower` throws.
class GivesUp final : public Worker {
 public:
  GivesUp(std::shared_ptr<const Container> container, std::set<uint64_t> bad,
          std::function<void()> thrower)
      : inner_(container, {}), bad_(std::move(bad)), thrower_(std::move(thrower)) {}
  void process(std::span<Task> tasks) override {
    for (Task& task : tasks) {
      task.error = std::make_exception_ptr(StateError("left by the worker that gave up"));
      if (bad_.contains(task.entry.record)) thrower_();
      task.error = nullptr;
    }
    inner_.process(tasks);
  }

 private:
  RecordWorker inner_;
  std::set<uint64_t> bad_;
  std::function<void()> thrower_;
};

TEST(Engine, worker_that_throws_spoils_the_bad_records_alone_and_each_has_its_place) {
  Rig rig;
  rig.order.shuffle = Shuffle::kNone;
  rig.order.batch_size = 5;
  rig.engine = {.threads = 1, .group = 100};  // spans over many batches
  rig.worker.bad = {7, 12, 13, 21};
  const std::vector<Said> want = expected(rig, 11);
  const auto thrower = [] { throw CorruptError("this record is bad"); };
  const auto engine =
      rig.make([&] { return std::make_unique<GivesUp>(rig.container, rig.worker.bad, thrower); });
  EXPECT_EQ(all_said(*engine, 11), want);
}

TEST(Engine, exception_that_is_no_error_becomes_one_with_text_and_place) {
  const std::vector<std::pair<std::function<void()>, std::string>> cases{
      {[] { throw std::bad_alloc(); }, "there is no memory for this record"},
      {[] { throw std::length_error("too long"); }, "too long"}};
  for (const auto& [thrower, text] : cases) {
    Rig rig;
    rig.order.shuffle = Shuffle::kNone;
    const auto engine = rig.make([&rig, &thrower = thrower] {
      return std::make_unique<GivesUp>(rig.container, std::set<uint64_t>{10}, thrower);
    });
    EXPECT_TRUE(said_by(*engine).rows);
    try {
      engine->next();
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.failure(), text);
      EXPECT_EQ(error.detail().path, "memory://records");
      EXPECT_EQ(error.detail().record, 10u);
    }
    EXPECT_TRUE(said_by(*engine).rows);
  }
}

// --- errors of no row ---------------------------------------------------------------------------

// A sampler whose `next` throws when it is asked for the time-th time, from 0.
class ThrowingSampler final : public Sampler {
 public:
  ThrowingSampler(std::unique_ptr<Sampler> inner, std::set<int> times)
      : inner_(std::move(inner)), times_(std::move(times)) {}
  std::optional<BatchPlan> next() override {
    if (times_.contains(asked_++)) throw std::runtime_error("the sampler is lost");
    return inner_->next();
  }
  Progress progress() const override { return inner_->progress(); }

 private:
  std::unique_ptr<Sampler> inner_;
  std::set<int> times_;
  int asked_ = 0;
};

TEST(Engine, sampler_that_throws_is_reported_in_the_place_of_its_batch) {
  for (const std::set<int>& times : {std::set{0}, {3}, {6}, {7}, {0, 1, 2}, {4, 6}}) {
    Rig rig;
    std::vector<Said> want = expected(rig, 20);
    int asked = 0;
    for (auto at = want.begin(); at != want.end(); ++at) {
      if (at->end) continue;
      if (times.contains(asked++)) at = want.insert(at, Said{.error = "the sampler is lost"});
    }
    Engine engine(rig.container, std::make_unique<ThrowingSampler>(rig.sampler(), times),
                  rig.layout(), record_worker_factory(rig.container), rig.engine);
    EXPECT_EQ(all_said(engine, want.size()), want);
  }
}

TEST(Engine, fed_record_out_of_range_is_reported_after_the_batches_before_it) {
  Rig rig;
  std::vector<std::vector<uint64_t>> fed{{1, 2}, {3, 4}, {5, 99}};
  size_t at = 0;
  auto feed = [&]() -> std::optional<FedBatch> {
    if (at == fed.size()) return std::nullopt;
    return FedBatch{fed[at++]};
  };
  Engine engine(rig.container, std::make_unique<FedSampler>(50, feed), rig.layout(),
                record_worker_factory(rig.container), rig.engine);
  int good = 0;
  try {
    while (engine.next().status == Engine::Status::kBatch) ++good;
    FAIL() << "no error";
  } catch (const OutOfRangeError&) {
    EXPECT_EQ(good, 2);
  }
}

TEST(Engine, factory_that_throws_is_every_nexts_error) {
  Rig rig;
  const auto engine = rig.make(
      []() -> std::unique_ptr<Worker> { throw UnsupportedError("there is no such worker"); });
  for (int i = 0; i < 3; ++i) EXPECT_THROW(engine->next(), UnsupportedError);
  EXPECT_THROW(engine->restart(rig.sampler()), UnsupportedError);
  engine->stop();
  EXPECT_THROW(engine->next(), StateError);
}

TEST(Engine, factory_that_makes_nothing_is_an_error) {
  Rig rig;
  EXPECT_THROW(rig.make([] { return std::unique_ptr<Worker>(); })->next(), StateError);
}

TEST(Engine, one_of_many_factories_that_throws_ends_the_engine) {
  Rig rig;
  rig.engine.threads = 4;
  std::atomic<int> made = 0;
  const auto engine = rig.make([&]() -> std::unique_ptr<Worker> {
    if (++made == 3) throw UnsupportedError("there are no more workers");
    return std::make_unique<RecordWorker>(rig.container, RecordWorkerOptions{});
  });
  EXPECT_THROW(
      {
        while (true) engine->next();
      },
      UnsupportedError);
}

TEST(Engine, no_memory_for_a_batch_is_that_batchs_error) {
  Rig rig;
  const auto layout = std::make_shared<BatchLayout>(
      std::vector<ColumnSpec>{{"huge", DType::kUint8, {int64_t{1} << 58}}}, 8);
  Engine engine(rig.container, rig.sampler(), layout, record_worker_factory(rig.container),
                rig.engine);
  for (int i = 0; i < 7; ++i) EXPECT_THROW(engine.next(), std::bad_alloc);
  EXPECT_EQ(engine.next().status, Engine::Status::kEndOfEpoch);
}

TEST(Engine, worker_that_throws_gives_its_error_to_the_whole_group) {
  class Throws final : public Worker {
    void process(std::span<Task>) override { throw std::runtime_error("the worker gave up"); }
  };
  Rig rig;
  const auto engine = rig.make([] { return std::make_unique<Throws>(); });
  for (int i = 0; i < 7; ++i)
    EXPECT_THAT(said_by(*engine).error, HasSubstr(": the worker gave up"));
  EXPECT_EQ(engine->next().status, Engine::Status::kEndOfEpoch);
}

TEST(Engine, bad_options_are_refused_by_name) {
  const auto message = [](const EngineOptions& options) -> std::string {
    Rig rig;
    rig.engine = options;
    try {
      rig.make();
    } catch (const InvalidArgumentError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(message({.threads = -1}), HasSubstr("'threads'"));
  EXPECT_THAT(message({.threads = 100000}), HasSubstr("'threads'"));
  EXPECT_THAT(message({.prefetch = 0}), HasSubstr("'prefetch'"));
  EXPECT_THAT(message({.read_threads = -1}), HasSubstr("'read_threads'"));
  EXPECT_THAT(message({.group = 0}), HasSubstr("'group'"));
  EXPECT_THAT(message({.read_ahead_bytes = ~size_t{0}}), HasSubstr("'read_ahead_bytes'"));
  EXPECT_EQ(message({}), "accepted");
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

// --- restart ------------------------------------------------------------------------------------

TEST(Engine, restart_at_every_batch_goes_on_with_the_other_sampler) {
  Rig rig;
  rig.worker.jitter = 3000;
  const Progress elsewhere{5, 16};
  const std::vector<Said> want = expected(rig, 12, elsewhere);
  for (const int threads : {1, 3}) {
    rig.engine.threads = threads;
    for (size_t handed = 0; handed <= 16; ++handed) {
      const auto engine = rig.make();
      EXPECT_EQ(all_said(*engine, handed), expected(rig, handed));
      engine->restart(rig.sampler(elsewhere));
      EXPECT_EQ(engine->progress(), elsewhere);
      EXPECT_EQ(all_said(*engine, 12), want) << "after " << handed << " batches";
    }
  }
}

TEST(Engine, restart_again_and_again_ends_where_the_last_one_says) {
  Rig rig;
  rig.worker.jitter = 3000;
  const auto engine = rig.make();
  std::mt19937 random(11);
  for (int round = 0; round < 100; ++round) {
    const Progress start{static_cast<uint32_t>(round), 8 * (random() % 6)};
    engine->restart(rig.sampler(start));
    const size_t count = random() % 3;
    ASSERT_EQ(all_said(*engine, count), expected(rig, count, start)) << "round " << round;
  }
}

TEST(Engine, restart_after_the_sampler_has_ended) {
  Rig rig;
  const auto feed = [] { return std::optional<FedBatch>(); };
  Engine engine(rig.container, std::make_unique<FedSampler>(50, feed), rig.layout(),
                record_worker_factory(rig.container), rig.engine);
  EXPECT_EQ(engine.next().status, Engine::Status::kEndOfEpoch);
  engine.restart(rig.sampler());
  EXPECT_EQ(all_said(engine, 8), expected(rig, 8));
}

TEST(Engine, restart_drops_errors_that_were_not_handed_out) {
  Rig rig;
  rig.order.shuffle = Shuffle::kNone;
  rig.worker.bad = {12};
  const auto engine = rig.make();
  engine->next();
  engine->restart(rig.sampler({0, 16}));
  EXPECT_EQ(all_said(*engine, 3), expected(rig, 3, {0, 16}));
}

TEST(Engine, restart_waits_for_nobody_and_next_does) {
  Rig rig;
  Gate gate;
  std::atomic<int> entered = 0;
  rig.worker.before = [&](auto) {
    ++entered;
    gate.pass();
  };
  const auto engine = rig.make();
  EXPECT_EQ(engine->next(milliseconds(0)).status, Engine::Status::kTimeout);
  while (entered == 0) std::this_thread::yield();
  engine->restart(rig.sampler({3, 0}));  // would hang here
  engine->restart(rig.sampler({4, 8}));
  EXPECT_EQ(engine->progress(), (Progress{4, 8}));
  EXPECT_EQ(engine->next(milliseconds(1)).status, Engine::Status::kTimeout);
  gate.open();
  EXPECT_EQ(all_said(*engine, 8), expected(rig, 8, {4, 8}));
}

TEST(Engine, restart_drops_batches_that_are_complete_while_work_is_in_progress) {
  Rig rig;
  rig.order.shuffle = Shuffle::kNone;
  Gate gate;
  std::atomic<bool> entered = false;
  rig.worker.before = [&](std::span<const Task> tasks) {
    if (tasks.front().entry.record < 8) return;
    entered = true;
    gate.pass();
  };
  rig.engine = {.threads = 1, .group = 1};
  const auto engine = rig.make();
  engine->next(milliseconds(0));
  while (!entered) std::this_thread::yield();  // the first batch is complete, the second begun
  engine->restart(rig.sampler({1, 0}));
  EXPECT_EQ(engine->next(milliseconds(1)).status, Engine::Status::kTimeout);
  gate.open();
  EXPECT_EQ(all_said(*engine, 3), expected(rig, 3, {1, 0}));
}

TEST(Engine, restart_leaves_handed_batches_as_they_are) {
  Rig rig;
  const std::vector<Said> want = expected(rig, 3);
  const auto engine = rig.make();
  std::vector<Batch> held;
  for (int i = 0; i < 3; ++i) held.push_back(*engine->next().batch);
  for (int i = 0; i < 5; ++i) {
    engine->restart(rig.sampler({9, 0}));
    all_said(*engine, 4);
  }
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(rows_of(held[i]), *want[i].rows);
}

// --- numbers ------------------------------------------------------------------------------------

TEST(Engine, stats_count_what_was_done) {
  Rig rig;
  rig.engine.prefetch = 1;
  rig.order = {.records = 50, .batch_size = 50, .last_batch = LastBatch::kDrop};
  std::atomic<uint64_t> bytes = 0;
  rig.container = std::make_shared<HookedContainer>(
      rig.container, ContainerHooks{.read = [&](uint64_t, uint64_t n) { bytes += n; }});
  const auto engine = rig.make();
  EXPECT_EQ(engine->stats().limit, "");
  const Engine::Next first = engine->next();
  Stats stats = engine->stats();
  while (stats.process.items < 100) stats = engine->stats();  // the batch ahead
  EXPECT_EQ(stats.deliver.items, 1u);
  EXPECT_EQ(stats.deliver.bytes, 50u * 13);
  EXPECT_EQ(stats.slots_lent, 1u);
  EXPECT_GE(stats.tolerated, 16u);
  EXPECT_GT(stats.seconds, 0);
  EXPECT_THAT(stats.limit, ::testing::AnyOf("fetch", "process", "consumer"));
  engine->stop();
  stats = engine->stats();
  EXPECT_EQ(stats.fetch.items, 100u);
  EXPECT_EQ(stats.fetch.bytes, bytes.load());
  EXPECT_EQ(stats.process.items, 100u);
  EXPECT_EQ(stats.process.bytes, 100u * 13);
  EXPECT_EQ(stats.tolerated, 2 * 16u);  // ids 1000..1049 that 3 divides
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
