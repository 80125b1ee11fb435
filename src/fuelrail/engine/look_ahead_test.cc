#include "fuelrail/engine/look_ahead.h"

#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <thread>

#include "fuelrail/base/error.h"
#include "fuelrail/sampler/epoch_sampler.h"
#include "fuelrail/testing/forwarding_read_queue.h"
#include "fuelrail/testing/hooked_container.h"
#include "fuelrail/testing/record_worker.h"
#include "fuelrail/testing/turnstile.h"

namespace fuelrail {
namespace {

std::shared_ptr<const Container> looked_at(std::function<void(uint64_t)> look) {
  return std::make_shared<HookedContainer>(
      made_records(100), ContainerHooks{.extent = std::move(look), .knows_extents = false});
}

const EpochSamplerOptions kOrder{.records = 100, .order = {.batch_size = 8}};

TEST(LookAhead, looks_at_as_many_at_once_as_it_has_threads_and_at_further_batches) {
  Turnstile looks;
  const auto container = looked_at([&](uint64_t record) { looks.pass(record); });
  LookAhead ahead(container, 3, {});
  EpochSampler sampler(kOrder);
  const auto plan = ahead.next_plan(sampler, 30);
  EXPECT_EQ(sampler.progress().position, 32u);
  EXPECT_TRUE(looks.await(3));
  ahead.set_threads(20);
  EXPECT_TRUE(looks.await(20));
  EXPECT_FALSE(ahead.is_found());
  looks.open();
  for (const Entry& entry : plan->entries) {
    EXPECT_EQ(ahead.find(entry.record).offset, container->extent(entry.record).offset);
  }
  EXPECT_EQ(ahead.next_plan(sampler, 0)->entries.front().position, 8u);
}

TEST(LookAhead, plans_no_batch_before_its_turn_where_no_look_is_needed) {
  LookAhead ahead(made_records(100), 3, {});
  EpochSampler sampler(kOrder);
  for (uint64_t batch = 0; batch < 5; ++batch) {
    const auto plan = ahead.next_plan(sampler, 30);
    EXPECT_EQ(sampler.progress().position, (batch + 1) * 8);
    for (const Entry& entry : plan->entries) {
      EXPECT_TRUE(ahead.is_found());
      EXPECT_GT(ahead.find(entry.record).length, 0u);
    }
  }
}

TEST(LookAhead, a_failed_look_is_its_own_records) {
  const auto container = looked_at([](uint64_t record) {
    if (record == 3) throw NotFoundError("no such file or directory");
  });
  for (const int threads : {0, 4}) {
    LookAhead ahead(container, threads, {});
    EpochSampler sampler(kOrder);
    const auto plan = ahead.next_plan(sampler, 0);
    for (const Entry& entry : plan->entries) {
      if (entry.record == 3) {
        EXPECT_THROW(ahead.find(3), NotFoundError);
      } else {
        EXPECT_NO_THROW(ahead.find(entry.record));
      }
    }
  }
}

// Sometimes fails to start a thread, or to get memory for its work.
class FailingQueue final : public ForwardingReadQueue<> {
 public:
  explicit FailingQueue(std::function<void(int call)> before)
      : ForwardingReadQueue(make_read_queue({.threads = 3, .backend = ReadBackend::kPread})),
        before_(std::move(before)) {}
  void submit(std::span<const ReadRequest> requests) override {
    before_(calls_++);
    ForwardingReadQueue::submit(requests);
  }

 private:
  const std::function<void(int)> before_;
  int calls_ = 0;
};

void expect_all_found(std::function<void(int)> before_submit) {
  const auto container = looked_at([](uint64_t) {});
  LookAhead ahead(container, std::make_unique<FailingQueue>(std::move(before_submit)));
  EpochSampler sampler(kOrder);
  for (int batch = 0; batch < 10; ++batch) {
    const auto plan = ahead.next_plan(sampler, 20);
    for (const Entry& entry : plan->entries) {
      EXPECT_EQ(ahead.find(entry.record).offset, container->extent(entry.record).offset);
    }
  }
}

TEST(LookAhead, records_are_found_where_no_thread_can_be_had) {
  expect_all_found([](int) { throw IoError("a thread cannot be started"); });
  expect_all_found([](int call) {
    if (call % 3 == 1) throw IoError("a thread cannot be started");
  });
}

TEST(LookAhead, records_are_found_where_looks_find_no_memory) {
  expect_all_found([](int call) {
    if (call % 3 == 1) throw std::bad_alloc();
  });
}

TEST(LookAhead, a_substitute_is_found_where_no_thread_can_be_had) {
  const auto container = looked_at([](uint64_t) {});
  LookAhead ahead(container, std::make_unique<FailingQueue>([](int) { throw std::bad_alloc(); }));
  EXPECT_FALSE(ahead.look_at_substitute(1, 50));
  EXPECT_TRUE(ahead.is_substitute_found(1));
  EXPECT_EQ(ahead.find_substitute(1, 50).offset, container->extent(50).offset);
}

TEST(LookAhead, substitutes_are_found_while_planned_records_are_looked_at) {
  Turnstile looks;
  const auto container = looked_at([&](uint64_t record) {
    if (record < 8) looks.pass(record);
    if (record == 60) throw NotFoundError("no such file or directory");
  });
  LookAhead ahead(container, 9, {});
  EpochSampler sampler(kOrder);
  const auto plan = ahead.next_plan(sampler, 0);
  EXPECT_TRUE(looks.await(8));
  for (const uint64_t record : {50, 60, 70}) EXPECT_TRUE(ahead.look_at_substitute(record, record));
  for (const uint64_t record : {70, 60, 50}) {
    while (!ahead.is_substitute_found(record)) std::this_thread::yield();
  }
  EXPECT_EQ(ahead.find_substitute(50, 50).offset, container->extent(50).offset);
  EXPECT_THROW(ahead.find_substitute(60, 60), NotFoundError);
  EXPECT_EQ(ahead.find_substitute(70, 70).offset, container->extent(70).offset);
  EXPECT_FALSE(ahead.is_found());
  looks.open();
  for (const Entry& entry : plan->entries) EXPECT_NO_THROW(ahead.find(entry.record));
}

TEST(LookAhead, the_end_of_a_look_is_told_once_it_is_known) {
  const auto container = looked_at([](uint64_t) {});
  std::atomic<size_t> told = 0;
  LookAhead ahead(container, 1, [&] {
    ++told;
    told.notify_all();
  });
  EpochSampler sampler({.records = 100, .order = {.batch_size = 1}});
  for (size_t batch = 0; batch < 20; ++batch) {
    const auto plan = ahead.next_plan(sampler, 0);
    told.wait(batch);
    EXPECT_TRUE(ahead.is_found());
    ahead.find(plan->entries[0].record);
  }
}

TEST(LookAhead, that_all_looks_have_ended_is_known_at_once_however_many_they_are) {
  constexpr size_t kRecords = 100;
  const auto container = looked_at([](uint64_t) {});
  std::atomic<size_t> told = 0;
  LookAhead ahead(container, 1, [&] { ++told; });
  EpochSampler sampler({.records = kRecords, .order = {.batch_size = kRecords}});
  const auto plan = ahead.next_plan(sampler, 0);
  ASSERT_TRUE(ahead.look_at_substitute(1, 50));  // the last
  while (told <= kRecords) std::this_thread::yield();
  EXPECT_TRUE(ahead.is_substitute_found(1));
}

TEST(LookAhead, without_threads_a_record_is_looked_at_when_it_is_asked_for) {
  std::vector<uint64_t> looked;
  const auto container = looked_at([&](uint64_t record) { looked.push_back(record); });
  LookAhead ahead(container, 0, [] { FAIL() << "nobody else looks"; });
  ahead.set_threads(4);
  EpochSampler sampler(kOrder);
  const auto plan = ahead.next_plan(sampler, 30);
  EXPECT_EQ(sampler.progress().position, 8u);
  EXPECT_TRUE(ahead.is_found());
  EXPECT_FALSE(ahead.look_at_substitute(1, 50));
  EXPECT_TRUE(looked.empty());
  ahead.find(plan->entries[0].record);
  ahead.find_substitute(1, 50);
  EXPECT_EQ(looked, (std::vector<uint64_t>{plan->entries[0].record, 50}));
  ahead.cancel();
  EXPECT_THROW(ahead.find(plan->entries[1].record), StateError);
  ahead.drop();
}

TEST(LookAhead, cancelled_looks_say_so_until_it_goes_on) {
  Turnstile looks;
  const auto container = looked_at([&](uint64_t record) { looks.pass(record); });
  LookAhead ahead(container, 1, {});
  EpochSampler sampler(kOrder);
  auto plan = ahead.next_plan(sampler, 0);
  EXPECT_TRUE(looks.await(1));
  ahead.cancel();
  looks.open();
  EXPECT_NO_THROW(ahead.find(plan->entries[0].record));  // it was in progress
  for (size_t i = 1; i < plan->entries.size(); ++i) {
    EXPECT_THROW(ahead.find(plan->entries[i].record), StateError);
  }
  plan = ahead.next_plan(sampler, 0);
  EXPECT_THROW(ahead.find(plan->entries[0].record), StateError);
  EXPECT_TRUE(ahead.look_at_substitute(1, 50));
  EXPECT_THROW(ahead.find_substitute(1, 50), StateError);
  EXPECT_EQ(looks.arrived(), 1u);
  ahead.drop();
  ahead.go_on();
  plan = ahead.next_plan(sampler, 0);
  for (const Entry& entry : plan->entries) EXPECT_NO_THROW(ahead.find(entry.record));
}

TEST(LookAhead, one_thread_looks_in_the_order_of_the_plans) {
  std::vector<uint64_t> looked;  // by one thread
  const auto container = looked_at([&](uint64_t record) { looked.push_back(record); });
  std::vector<uint64_t> planned;
  {
    LookAhead ahead(container, 1, {});
    EpochSampler sampler(
        {.records = 100, .order = {.seed = 1, .shuffle = Shuffle::kFull, .batch_size = 20}});
    for (int batch = 0; batch < 5; ++batch) {
      const auto plan = ahead.next_plan(sampler, 0);
      for (const Entry& entry : plan->entries) planned.push_back(entry.record);
      for (const Entry& entry : plan->entries) ahead.find(entry.record);
    }
  }
  EXPECT_EQ(looked, planned);
}

TEST(LookAhead, what_is_dropped_is_forgotten_and_its_looks_have_ended) {
  Turnstile looks;
  const auto container = looked_at([&](uint64_t record) {
    if (record < 90) looks.pass(record);
  });
  LookAhead ahead(container, 1, {});
  EpochSampler sampler(kOrder);
  static_cast<void>(ahead.next_plan(sampler, 80));
  EXPECT_TRUE(looks.await(1));
  std::thread opener([&] { looks.open(); });
  ahead.drop();
  opener.join();
  const size_t begun = looks.arrived();
  EpochSampler other(kOrder, {.epoch = 0, .position = 96});
  const auto plan = ahead.next_plan(other, 0);
  EXPECT_EQ(plan->entries.front().position, 96u);
  for (const Entry& entry : plan->entries) ahead.find(entry.record);
  EXPECT_EQ(looks.arrived(), begun);
}

// Three batches of one record, an error for the second, and an end.
class ScriptedSampler final : public Sampler {
 public:
  std::optional<BatchPlan> next() override {
    const uint64_t call = calls++;
    if (call == 1) throw IoError("the order cannot be read");
    if (call > 3) return std::nullopt;
    return BatchPlan{.entries = {{.record = call}}, .epoch = 0, .ends_epoch = false, .after = {}};
  }
  Progress progress() const override { return {}; }
  std::optional<uint64_t> substitute(const BatchPlan&, size_t, uint32_t) const override {
    return std::nullopt;
  }
  uint64_t calls = 0;
};

TEST(LookAhead, an_error_and_the_end_of_the_order_come_in_their_places) {
  const auto container = looked_at([](uint64_t) {});
  LookAhead ahead(container, 2, {});
  ScriptedSampler sampler;
  const auto expect_record = [&](uint64_t record) {
    const auto plan = ahead.next_plan(sampler, 50);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->entries.at(0).record, record);
    ahead.find(record);
  };
  expect_record(0);
  EXPECT_EQ(sampler.calls, 2u);  // up to the error
  EXPECT_THROW(ahead.next_plan(sampler, 50), IoError);
  EXPECT_EQ(sampler.calls, 2u);
  expect_record(2);
  EXPECT_EQ(sampler.calls, 5u);
  expect_record(3);
  EXPECT_FALSE(ahead.next_plan(sampler, 50));
  EXPECT_EQ(sampler.calls, 5u);
}

}  // namespace
}  // namespace fuelrail
