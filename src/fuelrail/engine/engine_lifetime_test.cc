// How an engine ends, what outlives it, and how much memory it uses.
#include <dirent.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <set>
#include <thread>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/engine_rig.h"
#include "fuelrail/testing/forked.h"

namespace fuelrail {
namespace {

std::string first_line(const std::string& path, const std::string& prefix = "") {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(prefix)) return line;
  }
  return "";
}

// Task numbers of this process's threads that the engine has named.
std::vector<std::string> engine_threads() {
  std::vector<std::string> found;
  DIR* directory = ::opendir("/proc/self/task");
  while (const dirent* entry = ::readdir(directory)) {
    const std::string task = std::string("/proc/self/task/") + entry->d_name;
    if (first_line(task + "/comm").starts_with("fuelrail-")) found.push_back(task);
  }
  ::closedir(directory);
  return found;
}

// A joined thread may still be listed for a moment.
void expect_no_engine_threads() {
  while (!engine_threads().empty()) std::this_thread::yield();
}

TEST(EngineLifetime, engine_that_never_ran_starts_nothing) {
  Rig rig;
  const auto engine = rig.make();
  EXPECT_TRUE(engine_threads().empty());
  engine->restart(rig.sampler({2, 8}));
  EXPECT_EQ(engine->progress(), (Progress{2, 8}));
  EXPECT_TRUE(engine_threads().empty());
  EXPECT_EQ(all_said(*engine, 3), expected(rig, 3, {2, 8}));
}

TEST(EngineLifetime, two_hundred_abandoned_engines_leave_no_thread) {
  Rig rig;
  rig.engine.threads = 3;
  for (size_t round = 0; round < 200; ++round) {
    const auto engine = rig.make();
    for (size_t i = 0; i < round % 10; ++i) engine->next();
  }
  expect_no_engine_threads();
}

TEST(EngineLifetime, engine_is_abandoned_in_the_middle_of_reads_and_work) {
  for (const int read_threads : {0, 4}) {
    Rig rig;
    rig.worker.jitter = 100000;
    rig.engine.read.threads = read_threads;
    const auto engine = rig.make();
    engine->next(std::chrono::milliseconds(0));
  }
  expect_no_engine_threads();
}

TEST(EngineLifetime, stop_can_be_repeated_and_next_then_says_so) {
  Rig rig;
  const auto engine = rig.make();
  engine->next();
  engine->stop();
  engine->stop();
  EXPECT_THROW(engine->next(), StateError);
  EXPECT_THROW(engine->restart(rig.sampler()), StateError);
  EXPECT_EQ(engine->progress(), (Progress{0, 8}));
  expect_no_engine_threads();
}

TEST(EngineLifetime, stop_before_the_first_batch) {
  Rig rig;
  const auto engine = rig.make();
  engine->stop();
  EXPECT_THROW(engine->next(), StateError);
}

TEST(EngineLifetime, stop_ends_a_next_that_waits_in_another_thread) {
  Gate gate;
  Rig rig;
  rig.worker.before = [&](auto) { gate.pass(); };
  const auto engine = rig.make();
  std::thread consumer([&] {
    EXPECT_THROW(engine->next(), StateError);
    gate.open();  // only now can the worker end, and `stop` with it
  });
  while (engine_threads().empty()) std::this_thread::yield();
  engine->stop();
  consumer.join();
}

// Works on the first epoch's records until they are no longer needed.
class Endless final : public Worker {
 public:
  explicit Endless(Gate& begun) : begun_(begun) {}
  void process(std::span<Task> tasks) override {
    write_each(tasks, [this](Task& task) {
      if (task.entry.epoch > 0) return;
      begun_.open();
      while (!task.stop.stop_requested()) std::this_thread::yield();
      throw StateError("the row is not wanted any more");
    });
  }

 private:
  Gate& begun_;
};

TEST(EngineLifetime, stop_tells_workers_that_their_rows_are_not_wanted) {
  Gate begun;
  Rig rig;
  const auto engine = rig.make([&] { return std::make_unique<Endless>(begun); });
  engine->next(std::chrono::milliseconds(0));
  begun.pass();
  engine->stop();
  expect_no_engine_threads();
}

TEST(EngineLifetime, restart_tells_workers_that_their_rows_are_not_wanted) {
  for (const OnError on_error : {OnError::kRaise, OnError::kSkip}) {
    Gate begun;
    Rig rig;
    rig.policy = {.on_error = on_error};
    if (on_error == OnError::kSkip)
      rig.policy.max_bad = Allowance{.count = 0};  // one bad record would end the run
    const auto engine = rig.make([&] { return std::make_unique<Endless>(begun); });
    engine->next(std::chrono::milliseconds(0));
    begun.pass();
    engine->restart(rig.sampler({.epoch = 1}));
    EXPECT_EQ(engine->next().status, Engine::Status::kBatch);
    EXPECT_TRUE(engine->bad_records().empty());
  }
}

TEST(EngineLifetime, stop_from_several_threads_at_once) {
  for (int round = 0; round < 30; ++round) {
    Rig rig;
    const auto engine = rig.make();
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) threads.emplace_back([&] { engine->stop(); });
    try {
      while (engine->next().status == Engine::Status::kBatch) {
      }
    } catch (const StateError&) {
    }
    for (std::thread& thread : threads) thread.join();
  }
  expect_no_engine_threads();
}

TEST(EngineLifetime, stats_are_read_while_the_engine_runs) {
  Rig rig;
  const auto engine = rig.make();
  std::atomic<bool> done = false;
  std::thread reader([&] {
    while (!done) EXPECT_LE(engine->stats().slots_lent, 2u);
  });
  EXPECT_EQ(all_said(*engine, 40), expected(rig, 40));
  done = true;
  reader.join();
}

TEST(EngineLifetime, every_batch_held_stays_as_it_was) {
  Rig rig;
  rig.engine.prefetch = 1;
  const std::vector<Said> want = expected(rig, 40);
  auto engine = rig.make();
  std::vector<std::optional<Batch>> held;
  for (int i = 0; i < 40; ++i) held.push_back(engine->next().batch);
  EXPECT_EQ(engine->stats().slots_lent, 35u);  // five of the forty were ends of epochs
  for (int pass = 0; pass < 2; ++pass) {
    for (size_t i = 0; i < held.size(); ++i) {
      ASSERT_EQ(held[i].has_value(), want[i].rows.has_value());
      if (held[i]) {
        EXPECT_EQ(rows_of(*held[i]), *want[i].rows);
      }
    }
    engine.reset();  // again without an engine
  }
}

TEST(EngineLifetime, batch_is_let_go_on_another_thread_after_the_engine) {
  Rig rig;
  auto engine = rig.make();
  std::optional<Batch> batch = engine->next().batch;
  engine.reset();
  std::thread([held = std::move(batch)]() mutable { held.reset(); }).join();
}

TEST(EngineLifetime, consumer_that_stands_still_bounds_slots_and_reads) {
  for (const size_t prefetch : {1u, 2u, 4u}) {
    std::mutex mutex;
    std::set<const Slot*> slots;
    std::atomic<int> reads = 0;
    Rig rig;
    rig.engine.prefetch = prefetch;
    rig.container = std::make_shared<HookedContainer>(
        rig.container, ContainerHooks{.read = [&](uint64_t, uint64_t) { ++reads; }});
    rig.worker.before = [&](std::span<const Task> tasks) {
      std::lock_guard lock(mutex);
      for (const Task& task : tasks) slots.insert(task.batch->owner().get());
    };
    const auto engine = rig.make();
    const Engine::Next held = engine->next();
    // The current batch and those ahead of it are processed; then all work stops.
    const uint64_t rows = 8 * (1 + prefetch);
    while (engine->stats().process.items < rows) std::this_thread::yield();
    while (engine->stats().process.waiting_seconds < 0.02) std::this_thread::yield();
    engine->stop();
    EXPECT_EQ(engine->stats().process.items, rows);
    EXPECT_EQ(static_cast<uint64_t>(reads), rows);
    EXPECT_EQ(slots.size(), 1 + prefetch);
  }
}

TEST(EngineLifetime, consumer_that_keeps_one_batch_needs_prefetch_and_two_slots) {
  std::mutex mutex;
  std::set<const Slot*> slots;
  Rig rig;
  rig.worker.before = [&](std::span<const Task> tasks) {
    std::lock_guard lock(mutex);
    for (const Task& task : tasks) slots.insert(task.batch->owner().get());
  };
  const auto engine = rig.make();
  Engine::Next kept;
  for (int i = 0; i < 400; ++i) kept = engine->next();
  engine->stop();
  EXPECT_LE(slots.size(), 2 + 2u);
}

TEST(EngineLifetime, reads_ahead_of_busy_workers_are_bounded_in_bytes) {
  const std::vector<MemoryContainer::Record> records(200, {.fields = {std::string(4096 - 8, 'x')}});
  Gate gate;
  Rig rig;
  rig.container =
      std::make_shared<MemoryContainer>("memory://equal", Schema{{{.name = "bytes"}}}, records);
  rig.sampling = {.records = 200, .order = {.batch_size = 200}};
  rig.worker.before = [&](auto) { gate.pass(); };
  rig.engine.read_ahead_bytes = 40 * 4096;
  const auto engine = rig.make();
  EXPECT_EQ(engine->next(std::chrono::milliseconds(0)).status, Engine::Status::kTimeout);
  while (engine->stats().fetch.items < 40) std::this_thread::yield();
  while (engine->stats().fetch.waiting_seconds < 0.02) std::this_thread::yield();
  EXPECT_EQ(engine->stats().fetch.items, 40u);
  gate.open();
  EXPECT_EQ(said_by(*engine), expected(rig, 1)[0]);
}

TEST(EngineLifetime, engine_threads_are_named_and_receive_no_signals) {
  Rig rig;
  const auto engine = rig.make();
  engine->next();
  const std::vector<std::string> tasks = engine_threads();
  EXPECT_GE(tasks.size(), 3u);  // fetch, two workers, and readers
  for (const std::string& task : tasks) {
    const std::string line = first_line(task + "/status", "SigBlk:");
    const uint64_t blocked = std::stoull(line.substr(line.find('\t')), nullptr, 16);
    EXPECT_TRUE(blocked & (1u << (SIGINT - 1))) << first_line(task + "/comm");
    EXPECT_TRUE(blocked & (1u << (SIGTERM - 1))) << first_line(task + "/comm");
  }
  sigset_t own;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &own);
  EXPECT_FALSE(::sigismember(&own, SIGINT));
}

TEST(EngineLifetime, system_that_starts_no_thread_is_every_nexts_error) {
  Rig rig;
  const auto engine = rig.make();
  const std::string said = in_unprivileged_child([&]() -> std::string {
    ::alarm(20);
    const rlimit none{.rlim_cur = 0, .rlim_max = 0};
    ::setrlimit(RLIMIT_NPROC, &none);
    const std::string first = said_by(*engine).error;
    return said_by(*engine).error == first ? first : "not the same again";
  });
  EXPECT_THAT(said, ::testing::HasSubstr("cannot start a thread"));
}

// --- fork ---------------------------------------------------------------------------------------

TEST(EngineLifetime, forked_child_is_told_and_lets_go_without_hanging) {
  Rig rig;
  rig.worker.jitter = 3000;
  auto engine = rig.make();
  for (int handed = 0; handed < 10; ++handed) {
    std::optional<Batch> batch = engine->next().batch;
    const std::string said = in_forked_child([&]() -> std::string {
      ::alarm(20);
      std::string result = said_by(*engine).error;
      try {
        engine->restart(rig.sampler());
        result += " restarted";
      } catch (const StateError&) {
      }
      engine->stop();
      if (batch && rows_of(*batch).empty()) result += " empty";
      batch.reset();
      engine.reset();
      return result;
    });
    EXPECT_EQ(said,
              "the engine's threads run only in the parent process. Create a new loader or "
              "iterator after the fork.");
  }
  std::vector<Said> want = expected(rig, 13);
  want.erase(want.begin(), want.begin() + 10);
  EXPECT_EQ(all_said(*engine, 3), want);
}

TEST(EngineLifetime, engine_that_had_not_started_runs_in_the_child) {
  Rig rig;
  const std::vector<Said> want = expected(rig, 10);
  const auto engine = rig.make();
  const std::string said = in_forked_child([&]() -> std::string {
    ::alarm(20);
    return all_said(*engine, 10) == want ? "right" : "wrong";
  });
  EXPECT_EQ(said, "right");
  EXPECT_EQ(all_said(*engine, 10), want);
}

}  // namespace
}  // namespace fuelrail
