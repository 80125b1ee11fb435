// Engine::restart: planned batches are dropped, returned batches stay, and the order continues at a
// different place.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <random>
#include <span>
#include <thread>

#include "fuelrail/engine/engine.h"
#include "fuelrail/sampler/fed_sampler.h"
#include "fuelrail/testing/engine_rig.h"

namespace fuelrail {
namespace {

using std::chrono::milliseconds;

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
  rig.sampling.order.shuffle = Shuffle::kNone;
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
  rig.sampling.order.shuffle = Shuffle::kNone;
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

TEST(Engine, phase_is_kept_where_restart_goes_on_and_else_begins_anew) {
  using Phase = Engine::Phase;
  Rig rig;
  const auto two_batches_an_epoch = [](Progress at) {
    const auto feed = [n = at.position]() mutable {
      const bool last = n % 2 == 1;
      return std::optional(FedBatch{{n++}, last});
    };
    return std::make_unique<FedSampler>(50, feed, at);
  };
  const auto make = [&](const Engine* before) {
    return std::make_unique<Engine>(rig.container, two_batches_an_epoch({}), rig.layout(),
                                    record_worker_factory(rig.container), rig.engine, ErrorPolicy{},
                                    before);
  };
  const auto engine = make(nullptr);
  const auto go_on = [&] {
    engine->restart(two_batches_an_epoch(engine->progress()), Engine::BadCount::kGoOn);
  };
  EXPECT_EQ(engine->phase(), Phase::kBeginning);
  engine->next();
  go_on();
  EXPECT_EQ(engine->phase(), Phase::kInside);
  engine->next();
  go_on();
  EXPECT_EQ(engine->phase(), Phase::kEnd);
  EXPECT_EQ(make(engine.get())->next().status, Engine::Status::kEndOfEpoch);
  EXPECT_EQ(engine->next(milliseconds(0)).status, Engine::Status::kEndOfEpoch);
  EXPECT_EQ(engine->phase(), Phase::kOver);
  go_on();
  EXPECT_EQ(engine->phase(), Phase::kOver);
  engine->begin_epoch();
  EXPECT_EQ(engine->phase(), Phase::kBeginning);
  engine->next();
  engine->begin_epoch();
  EXPECT_EQ(engine->phase(), Phase::kInside);
  engine->next();
  engine->begin_epoch();
  EXPECT_TRUE(engine->next().batch) << "the next epoch's first, without kEndOfEpoch";
  engine->restart(two_batches_an_epoch({}));
  EXPECT_EQ(engine->phase(), Phase::kBeginning);
}

}  // namespace
}  // namespace fuelrail
