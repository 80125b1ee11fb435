// The errors that the engine throws: errors of a row, with its place, and errors that belong to no
// row.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <new>
#include <set>
#include <stdexcept>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/engine/engine.h"
#include "fuelrail/sampler/fed_sampler.h"
#include "fuelrail/testing/engine_rig.h"

namespace fuelrail {
namespace {

using ::testing::HasSubstr;

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
  rig.sampling.order.shuffle = Shuffle::kNone;
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
  rig.sampling.order.shuffle = Shuffle::kNone;
  rig.worker.bad = {49};
  const auto engine = rig.make();
  for (int i = 0; i < 6; ++i) engine->next();
  EXPECT_THROW(engine->next(), CorruptError);
  EXPECT_EQ(engine->next().status, Engine::Status::kEndOfEpoch);
  EXPECT_EQ(engine->next().status, Engine::Status::kBatch);
}

TEST(Engine, read_error_has_the_records_place) {
  Rig rig;
  rig.sampling.order.shuffle = Shuffle::kNone;
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
    rig.sampling.order.shuffle = Shuffle::kNone;
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
  rig.sampling.order.shuffle = Shuffle::kNone;
  rig.sampling.records = 51;
  const std::vector<Said> said = all_said(*rig.make(), 7);
  EXPECT_TRUE(said[5].rows);
  EXPECT_EQ(said[6].error,
            "record 50: the record does not exist: expected a record index below 50");
}

TEST(Engine, place_that_throws_leaves_the_error_as_it_is) {
  Rig rig;
  rig.worker.bad = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  rig.sampling = {.records = 10, .order = {.batch_size = 10}};
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
    const std::vector<std::string>& classes() const override { return classes_; }
    bool verifies_checksums() const override { return false; }

   private:
    Fingerprint make_fingerprint(const std::function<bool()>&) const override { return {}; }
    Schema schema_;
    std::vector<std::string> classes_;
  };
  Engine engine(std::make_shared<HugeContainer>(),
                std::make_unique<EpochSampler>(EpochSamplerOptions{.records = 3}), record_layout(1),
                [] { return std::make_unique<HugeRecord>(); }, {}, {.max_record_bytes = ~0ull});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(said_by(engine).error, "memory://huge: record " + std::to_string(i) +
                                         ", offset 0: not enough memory for this record");
  }
  EXPECT_EQ(engine.next().status, Engine::Status::kEndOfEpoch);
}

// A worker that throws `thrower`'s exception for a span that has a bad record.
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
  rig.sampling.order.shuffle = Shuffle::kNone;
  rig.sampling.order.batch_size = 5;
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
      {[] { throw std::bad_alloc(); }, "not enough memory for this record"},
      {[] { throw std::length_error("too long"); }, "too long"}};
  for (const auto& [thrower, text] : cases) {
    Rig rig;
    rig.sampling.order.shuffle = Shuffle::kNone;
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

TEST(Engine, sampler_that_throws_is_reported_in_the_place_of_its_batch) {
  for (const std::set<int>& times : {std::set{0}, {3}, {6}, {7}, {0, 1, 2}, {4, 6}}) {
    Rig rig;
    std::vector<Said> want = expected(rig, 20);
    int asked = 0;
    for (auto at = want.begin(); at != want.end(); ++at) {
      if (at->end) continue;
      if (times.contains(asked++)) at = want.insert(at, Said{.error = "the sampler is lost"});
    }
    auto sampler = std::make_unique<HookedSampler>(rig.sampler(), [&times, calls = 0]() mutable {
      if (times.contains(calls++)) throw std::runtime_error("the sampler is lost");
    });
    Engine engine(rig.container, std::move(sampler), rig.layout(),
                  record_worker_factory(rig.container), rig.engine);
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
  EXPECT_THAT(message({.threads = -1}), HasSubstr("`threads` is out of range: expected "));
  EXPECT_THAT(message({.threads = 100000}), HasSubstr("`threads` is out of range: expected "));
  EXPECT_THAT(message({.prefetch = 0}), HasSubstr("`prefetch` is out of range: expected "));
  EXPECT_THAT(message({.read = {.threads = -1}}),
              HasSubstr("`read_threads` is out of range: expected "));
  EXPECT_THAT(message({.group = 0}), HasSubstr("`group` is out of range: expected "));
  EXPECT_THAT(message({.read_ahead_bytes = ~size_t{0}}),
              HasSubstr("`read_ahead_bytes` is out of range: expected "));
  EXPECT_EQ(message({}), "accepted");
}

}  // namespace
}  // namespace fuelrail
