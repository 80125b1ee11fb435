// The error policy `skip`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "fuelrail/base/error.h"
#include "fuelrail/sampler/fed_sampler.h"
#include "fuelrail/testing/engine_rig.h"

namespace fuelrail {
namespace {

using ::testing::HasSubstr;

Rig skipping(std::set<uint64_t> bad, size_t max_bad = 1000) {
  Rig rig;
  rig.worker.bad = std::move(bad);
  rig.policy = {.on_error = OnError::kSkip, .max_bad = Allowance{.count = max_bad}};
  return rig;
}

std::vector<uint64_t> records_of(const std::vector<BadRecord>& bad) {
  std::vector<uint64_t> records;
  for (const BadRecord& one : bad) records.push_back(one.record);
  return records;
}

TEST(EngineThatSkips, takes_the_same_substitutes_for_any_threads_and_prefetch) {
  Rig rig = skipping({3, 7, 8, 9, 20, 33, 49});
  rig.worker.jitter = 3000;
  const std::vector<Said> want = expected(rig, 20);
  for (const Said& said : want) EXPECT_TRUE(said.error.empty());
  std::vector<uint64_t> bad;
  for (const int threads : {1, 2, 8}) {
    for (const size_t prefetch : {1u, 3u}) {
      rig.engine = {.threads = threads, .prefetch = prefetch};
      const auto engine = rig.make();
      EXPECT_EQ(all_said(*engine, want.size()), want) << threads << " threads";
      if (bad.empty()) bad = records_of(engine->bad_records());
      EXPECT_EQ(records_of(engine->bad_records()), bad);
    }
  }
  EXPECT_EQ(bad.size(), 7u);
}

TEST(EngineThatSkips, goes_on_looking_when_nearly_everything_is_bad) {
  std::set<uint64_t> bad;
  for (uint64_t record = 0; record < 49; ++record) bad.insert(record);
  Rig rig = skipping(bad, 1000000);
  EXPECT_EQ(all_said(*rig.make(), 8), expected(rig, 8));
}

TEST(EngineThatSkips, passes_over_a_record_that_claims_to_be_longer_than_is_allowed) {
  Rig rig = skipping({});
  const auto claimed = [](uint64_t record, uint64_t length) {
    return record == 20 ? uint64_t{1} << 60 : length;
  };
  rig.container = std::make_shared<HookedContainer>(made_records(50),
                                                    ContainerHooks{.claimed_length = claimed});
  const auto engine = rig.make();
  for (const Said& said : all_said(*engine, 7)) EXPECT_TRUE(said.rows) << said.error;
  ASSERT_EQ(records_of(engine->bad_records()), std::vector<uint64_t>{20});
  const std::string error = engine->bad_records()[0].error;
  EXPECT_THAT(error, HasSubstr("record 20, offset "));
  EXPECT_THAT(error, HasSubstr("expected at most 2147483648 bytes, found 1152921504606846976"));

  rig = skipping({});
  rig.policy.max_record_bytes = 900;
  std::set<uint64_t> longer;
  for (uint64_t i = 0; i < 50; ++i) {
    if (rig.container->extent(i).length > 900) longer.insert(i);
  }
  const auto strict = rig.make();
  all_said(*strict, 7);
  const std::vector<uint64_t> bad = records_of(strict->bad_records());
  EXPECT_EQ(std::set(bad.begin(), bad.end()), longer);
}

TEST(EngineThatSkips, all_ranks_have_the_same_batch_counts) {
  for (uint32_t rank = 0; rank < 4; ++rank) {
    Rig rig = skipping({1, 2, 3, 5, 8, 13, 21, 34});
    rig.sampling.order.shard = {rank, 4};
    rig.sampling.order.batch_size = 3;
    const auto engine = rig.make();
    EXPECT_EQ(all_said(*engine, 12), expected(rig, 12));
  }
}

TEST(EngineThatSkips, covers_records_that_cannot_be_read_or_located) {
  for (const bool read : {true, false}) {
    Rig rig = skipping({10, 11, 40});
    const std::vector<Said> want = expected(rig, 16);
    rig.worker.bad.clear();
    const auto inner = rig.container;
    const auto fails = [inner](uint64_t offset) {
      return offset == inner->extent(10).offset || offset == inner->extent(11).offset ||
             offset == inner->extent(40).offset;
    };
    ContainerHooks hooks;
    if (read) {
      hooks.read = [fails](uint64_t at, uint64_t) {
        if (fails(at)) throw IoError("the disk is on fire");
      };
    } else {
      hooks.extent = [](uint64_t record) {
        if (record == 10 || record == 11 || record == 40) throw CorruptError("the table is wrong");
      };
    }
    rig.container = std::make_shared<HookedContainer>(inner, hooks);
    const auto engine = rig.make();
    EXPECT_EQ(all_said(*engine, 16), want);
    EXPECT_EQ(engine->bad_records().size(), 3u);
    EXPECT_THAT(engine->bad_records()[0].error,
                HasSubstr(read ? "the disk is on fire" : "the table is wrong"));
  }
}

TEST(EngineThatSkips, waits_for_memory_in_which_to_read_the_substitute) {
  Rig rig = skipping({3, 7, 8, 9, 20, 33, 49});
  rig.engine.read_ahead_bytes = 1;
  EXPECT_EQ(all_said(*rig.make(), 20), expected(rig, 20));
}

TEST(EngineThatSkips, stops_at_the_batch_with_the_one_too_many_and_stays_there) {
  Rig rig = skipping({2, 10, 18, 19, 26}, 3);
  rig.sampling.order.shuffle = Shuffle::kNone;
  // Substitutes that are bad themselves would count too.
  Rig free = rig;
  free.policy.max_bad = Allowance{.count = 1000};
  const auto unlimited = free.make();
  for (int i = 0; i < 3; ++i) unlimited->next();
  ASSERT_EQ(unlimited->bad_records().size(), 4u);

  const auto engine = rig.make();
  const std::vector<Said> want = expected(rig, 2);
  EXPECT_EQ(all_said(*engine, 2), want);
  for (int i = 0; i < 3; ++i) {
    try {
      engine->next();
      FAIL() << "no error";
    } catch (const TooManyBadRecordsError& error) {
      EXPECT_THAT(error.what(), HasSubstr("at most 3"));
      EXPECT_THAT(error.what(), HasSubstr("record 19"));
    }
    EXPECT_EQ(engine->progress(), (Progress{0, 16})) << "the batch was not handed out";
  }
  EXPECT_EQ(engine->bad_records().size(), 4u);

  engine->restart(rig.sampler({0, 16}));  // resets the count
  EXPECT_TRUE(said_by(*engine).rows);
  EXPECT_TRUE(said_by(*engine).rows);
  EXPECT_EQ(engine->bad_records().size(), 5u);
}

TEST(EngineThatSkips, ends_when_every_record_is_bad) {
  std::set<uint64_t> bad;
  for (uint64_t record = 0; record < 50; ++record) bad.insert(record);
  for (const size_t max_bad : {size_t{0}, size_t{5}, size_t{49}}) {
    Rig rig = skipping(bad, max_bad);
    EXPECT_THROW(rig.make()->next(), TooManyBadRecordsError);
  }
  Rig rig = skipping(bad, 50);
  rig.sampling.order.batch_size = 2;
  EXPECT_THROW(rig.make()->next(), CorruptError) << "the substitutes are finitely many";
}

TEST(EngineThatSkips, each_epoch_has_its_own_count) {
  Rig rig = skipping({0, 1}, 2);
  rig.sampling = {.records = 10, .order = {.batch_size = 10}};
  const auto engine = rig.make();
  for (int i = 0; i < 12; ++i) EXPECT_TRUE(said_by(*engine).error.empty());
  EXPECT_EQ(engine->bad_records().size(), 2u);
  EXPECT_GE(engine->bad_records()[0].times, 6u);
}

// Filler rows repeat a record, and substitutes may be bad themselves.
TEST(EngineThatSkips, record_counts_once_an_epoch_however_often_it_comes_up) {
  for (const LastBatch last_batch : {LastBatch::kPad, LastBatch::kWrap}) {
    Rig rig = skipping({0, 8}, 2);
    rig.sampling = {.records = 9, .order = {.batch_size = 8, .last_batch = last_batch}};
    rig.container = made_records(9);
    const auto engine = rig.make();
    EXPECT_EQ(all_said(*engine, 6), expected(rig, 6));
    EXPECT_EQ(records_of(engine->bad_records()), (std::vector<uint64_t>{0, 8}));
  }
}

TEST(EngineThatSkips, fed_order_takes_substitutes_of_its_own_batch_or_gives_the_error) {
  const std::vector<std::vector<uint64_t>> fed{{1, 2, 3}, {4}, {5, 6}, {7, 8}};
  size_t at = 0;
  const auto feed = [&]() -> std::optional<FedBatch> {
    if (at == fed.size()) return std::nullopt;
    return FedBatch{fed[at++]};
  };
  const auto container = made_records(50);
  Engine engine(container, std::make_unique<FedSampler>(50, feed), record_layout(3),
                record_worker_factory(container, {.bad = {2, 3, 4, 5, 6}}), {},
                {.on_error = OnError::kSkip, .max_bad = Allowance{.count = 100}});
  const auto ids = [](const Said& said) {
    std::vector<uint64_t> found;
    for (const RecordRow& row : *said.rows) found.push_back(row.id);
    return found;
  };
  EXPECT_EQ(ids(said_by(engine)), (std::vector<uint64_t>{1001, 1001, 1001}));
  EXPECT_THAT(said_by(engine).error, HasSubstr("record 4"));
  EXPECT_THAT(said_by(engine).error, HasSubstr("this record is bad"));
  EXPECT_EQ(ids(said_by(engine)), (std::vector<uint64_t>{1007, 1008}));
}

TEST(EngineThatSkips, throws_what_the_data_are_not_to_blame_for) {
  Rig rig = skipping({});
  rig.sampling.order.shuffle = Shuffle::kNone;
  rig.worker.before = [](std::span<const Task> tasks) {
    for (const Task& task : tasks) {
      if (task.entry.record == 10) throw std::runtime_error("the user's code is wrong");
    }
  };
  const std::vector<Said> said = all_said(*rig.make(), 3);
  EXPECT_TRUE(said[0].rows);
  EXPECT_THAT(said[1].error, HasSubstr("record 10"));
  EXPECT_THAT(said[1].error, HasSubstr("the user's code is wrong"));
  EXPECT_TRUE(said[2].rows);
}

TEST(EngineThatSkips, restart_while_substitutes_are_being_fetched) {
  Rig rig = skipping({3, 7, 8, 9, 20, 33, 49});
  rig.engine = {.threads = 3, .prefetch = 4};
  const auto engine = rig.make();
  for (uint32_t epoch = 0; epoch < 100; ++epoch) {
    engine->restart(rig.sampler({epoch, 0}));
    if (epoch % 3 == 0) continue;
    EXPECT_EQ(said_by(*engine), expected(rig, 1, {epoch, 0})[0]);
  }
}

}  // namespace
}  // namespace fuelrail
