// How the engine reads: how much at once, how far ahead, by whom.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/container/files/files_container.h"
#include "fuelrail/sampler/fed_sampler.h"
#include "fuelrail/testing/engine_rig.h"
#include "fuelrail/testing/file_records.h"

namespace fuelrail {
namespace {

constexpr size_t kAll = size_t{1} << 40;

// Returns: whether it comes true within a time that no right engine needs.
template <typename Condition>
bool within_patience(Condition condition) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::yield();
  }
  return true;
}

// Storage that answers only when it is told to, the lowest offset of those that wait first.
class Turnstile {
 public:
  void pass(uint64_t offset) {
    std::unique_lock lock(mutex_);
    ++arrived_;
    waiting_.insert(offset);
    changed_.notify_all();
    changed_.wait(lock, [&] {
      return released_ >= kAll || (passed_ < released_ && offset == *waiting_.begin());
    });
    ++passed_;
    waiting_.erase(waiting_.find(offset));
    if (released_ < kAll) changed_.notify_all();
  }
  // Returns: whether `reads` reads come to be in flight, within a time that no right engine needs.
  bool await(size_t reads) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60),
                             [&] { return arrived_ >= released_ + reads; });
  }
  size_t arrived() {
    std::lock_guard lock(mutex_);
    return arrived_;
  }
  // Lets the next `reads` reads end. Returns: how many ever did.
  size_t release(size_t reads) {
    std::lock_guard lock(mutex_);
    released_ += reads;
    changed_.notify_all();
    return released_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::multiset<uint64_t> waiting_;  // offsets
  size_t arrived_ = 0;
  size_t released_ = 0;
  size_t passed_ = 0;
};

// An engine over slow storage, and workers that are quicker than that.
struct SlowStorage {
  SlowStorage(uint64_t batch_size, size_t prefetch,
              std::shared_ptr<const Container> records = made_records(4'000)) {
    rig.order = {.records = records->size(), .batch_size = batch_size};
    rig.container = std::make_shared<HookedContainer>(
        std::move(records),
        ContainerHooks{.read = [this](uint64_t offset, uint64_t) { storage.pass(offset); }});
    // Each record is passed on as it comes: no read waits for one that the test holds back.
    rig.engine = {.threads = 2, .prefetch = prefetch, .group = 1};
    rig.worker.before = [this](std::span<const Task> tasks) {
      std::lock_guard lock(mutex);
      for (const Task& task : tasks) slots.insert(task.batch->owner().get());
      processed += tasks.size();
      done.notify_all();
    };
  }
  // Lets `reads` reads end, and waits until workers have taken their records. Returns: how many
  // ever did.
  size_t answer(size_t reads) {
    const size_t passed = storage.release(reads);
    std::unique_lock lock(mutex);
    EXPECT_TRUE(done.wait_for(lock, std::chrono::seconds(60), [&] { return processed >= passed; }));
    return passed;
  }

  // The first round of reads, of which the first says nothing: no worker has done a record yet.
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

TEST(EngineReads, in_flight_double_while_workers_wait_for_storage) {
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
  slow.storage.release(kAll);
  EXPECT_EQ(said_by(*engine), expected(slow.rig, 1)[0]);
}

// Batches of 4 rows, of which two are prefetched: 8 rows, whose reads would not fill the time.
TEST(EngineReads, in_flight_are_more_than_what_is_prefetched_holds_and_slots_are_not) {
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
    while (taken < passed / 4) std::this_thread::yield();  // else nobody waits for storage
  }
  slow.storage.release(kAll);
  consumer.join();
  EXPECT_EQ(said, expected(slow.rig, 600));
  EXPECT_LE(slow.slots.size(), kPrefetch + 2);  // one more is with the user
}

// A folder of images on a network file system: a look at a file takes as long as a read.
TEST(EngineReads, looks_at_files_are_as_many_at_once_as_reads) {
  Turnstile looks;
  Rig rig;
  rig.container = std::make_shared<HookedContainer>(
      made_records(2'000), ContainerHooks{.extent = [&](uint64_t record) { looks.pass(record); },
                                          .knows_extents = false});
  rig.order = {.records = 2'000, .shuffle = Shuffle::kFull, .batch_size = 500};
  rig.engine = {.threads = 2, .read_threads = 40, .max_read_threads = 0};
  const auto engine = rig.make();
  EXPECT_EQ(engine->next(std::chrono::milliseconds(0)).status, Engine::Status::kTimeout);
  EXPECT_TRUE(looks.await(40));
  EXPECT_TRUE(within_patience([&] { return engine->stats().fetch.busy_seconds > 0.01; }));
  EXPECT_EQ(engine->stats().fetch.waiting_seconds, 0) << "it waits for storage, not for room";
  looks.release(kAll);
  rig.container = made_records(2'000);
  EXPECT_EQ(all_said(*engine, 9), expected(rig, 9));
}

// Files whose sizes come only when they are let through.
class HeldLooks final : public FileSystem {
 public:
  HeldLooks(FileSystem& inner, Turnstile& looks) : inner_(inner), looks_(looks) {}
  std::optional<FileInfo> stat(const std::string& uri) override {
    looks_.pass(0);
    return inner_.stat(uri);
  }
  std::shared_ptr<const Source> open(const std::string& uri) override { return inner_.open(uri); }
  std::shared_ptr<const Source> open_lazily(const FileInfo& info, const std::string& as) override {
    return inner_.open_lazily(info, as);
  }
  std::string absolute(const std::string& uri) override { return inner_.absolute(uri); }
  std::unique_ptr<Sink> create(const std::string& uri) override { return inner_.create(uri); }
  std::vector<FileInfo> list(const std::string& uri) override { return inner_.list(uri); }
  std::vector<DirectoryEntry> list_names(const std::string& uri) override {
    return inner_.list_names(uri);
  }
  void remove(const std::string& uri) override { inner_.remove(uri); }
  void make_directory(const std::string& uri) override { inner_.make_directory(uri); }

 private:
  FileSystem& inner_;
  Turnstile& looks_;
};

TEST(EngineReads, the_files_of_a_folder_are_looked_at_many_at_once) {
  const TemporaryDirectory directory;
  for (int i = 0; i < 60; ++i) {
    write_file(directory / ("c" + std::to_string(i % 3) + "/" + std::to_string(i) + ".jpg"),
               std::to_string(i));
  }
  Turnstile looks;
  HeldLooks held(file_system_for(directory.path()), looks);
  const FileSystemOverride instead("file", held);
  Rig rig;
  rig.container = files::open_files(directory.path());
  rig.order.records = 60;
  rig.order.batch_size = 30;
  rig.engine = {.threads = 2, .read_threads = 25, .max_read_threads = 0};
  const auto engine = rig.make();
  EXPECT_EQ(engine->next(std::chrono::milliseconds(0)).status, Engine::Status::kTimeout);
  EXPECT_TRUE(looks.await(25));
  looks.release(kAll);
  EXPECT_EQ(all_said(*engine, 6), expected(rig, 6));
}

TEST(EngineReads, looks_change_no_batch_and_no_error) {
  const auto fails = [](uint64_t record) {
    if (record % 29 == 3) throw NotFoundError("no such file or directory", {.path = "gone"});
    if (record == 50) throw std::runtime_error("out of order");
  };
  for (const OnError on_error : {OnError::kRaise, OnError::kSkip}) {
    for (const int read_threads : {0, 1, 5}) {
      std::vector<std::vector<Said>> said;
      for (const bool known : {true, false}) {
        Rig rig;
        rig.container = std::make_shared<HookedContainer>(
            made_records(300), ContainerHooks{.extent = fails, .knows_extents = known});
        rig.order = {.records = 300, .seed = 5, .shuffle = Shuffle::kFull, .batch_size = 7};
        rig.engine = {.threads = 3, .read_threads = read_threads};
        rig.worker.jitter = 1'000;
        rig.policy.on_error = on_error;
        rig.policy.max_bad = 1'000;
        const auto engine = rig.make();
        said.push_back(all_said(*engine, 70));
        engine->restart(rig.sampler({.epoch = 4, .position = 21}));
        for (Said& each : all_said(*engine, 50)) said.back().push_back(std::move(each));
      }
      EXPECT_EQ(said[0], said[1]);
    }
  }
}

// Files that are looked at four at once; a look at one of the first half ends when the test lets
// it.
struct HeldBackLooks {
  static constexpr uint64_t kHeldBack = 2'000;

  HeldBackLooks() {
    rig.order = {.records = 2 * kHeldBack, .batch_size = 8};
    rig.container = std::make_shared<HookedContainer>(made_records(2 * kHeldBack),
                                                      ContainerHooks{.extent =
                                                                         [this](uint64_t record) {
                                                                           if (record < kHeldBack)
                                                                             looks.pass(record);
                                                                         },
                                                                     .knows_extents = false});
  }

  Turnstile looks;
  Rig rig;
};

TEST(EngineReads, an_engine_that_stops_ends_looks_and_begins_no_further) {
  HeldBackLooks held;
  const auto engine = held.rig.make();
  EXPECT_EQ(engine->next(std::chrono::milliseconds(0)).status, Engine::Status::kTimeout);
  EXPECT_TRUE(held.looks.await(4));
  std::thread stopper([&] { engine->stop(); });
  const auto has_stopped = [&] {
    try {
      engine->next(std::chrono::milliseconds(0));
    } catch (const StateError&) {
      return true;
    }
    return false;
  };
  while (!has_stopped()) std::this_thread::yield();
  held.looks.release(kAll);
  stopper.join();
  EXPECT_EQ(held.looks.arrived(), 4u);
}

TEST(EngineReads, an_order_that_is_given_up_is_looked_at_no_further) {
  HeldBackLooks held;
  const auto engine = held.rig.make();
  EXPECT_EQ(engine->next(std::chrono::milliseconds(0)).status, Engine::Status::kTimeout);
  EXPECT_TRUE(held.looks.await(4));
  const Progress start{.epoch = 0, .position = HeldBackLooks::kHeldBack};
  for (int i = 0; i < 3; ++i) engine->restart(held.rig.sampler(start));
  held.looks.release(kAll);
  held.rig.container = made_records(4'000);
  EXPECT_EQ(all_said(*engine, 20), expected(held.rig, 20, start));
  EXPECT_EQ(held.looks.arrived(), 4u);
}

TEST(EngineReads, an_engine_that_fails_begins_no_further_look) {
  HeldBackLooks held;
  Gate gate;
  const auto engine = held.rig.make([&]() -> std::unique_ptr<Worker> {
    gate.pass();
    throw IoError("no worker");
  });
  EXPECT_EQ(engine->next(std::chrono::milliseconds(0)).status, Engine::Status::kTimeout);
  EXPECT_TRUE(held.looks.await(4));
  gate.open();
  EXPECT_THROW(engine->next(), IoError);
  held.looks.release(kAll);
  engine->stop();
  EXPECT_EQ(held.looks.arrived(), 4u);
}

// Every record of the first batch is missing.
TEST(EngineReads, what_stands_in_for_missing_files_is_looked_at_many_at_once) {
  constexpr uint64_t kRows = 8;
  Turnstile looks;
  Rig rig;
  rig.order = {.records = 4'000, .batch_size = kRows};
  rig.engine = {.threads = 2, .prefetch = 1, .read_threads = kRows, .max_read_threads = 0};
  rig.policy = {.on_error = OnError::kSkip, .max_bad = 100};
  const auto sampler = rig.sampler();
  const auto plan = sampler->next();
  std::set<uint64_t> substitutes;
  for (size_t row = 0; row < kRows; ++row) {
    rig.worker.bad.insert(row);
    substitutes.insert(*sampler->substitute(*plan, row, 1));
  }
  ASSERT_EQ(substitutes.size(), kRows);
  ASSERT_GE(*substitutes.begin(), kRows);
  rig.container = std::make_shared<HookedContainer>(
      made_records(4'000), ContainerHooks{.extent =
                                              [&](uint64_t record) {
                                                if (record < kRows) throw NotFoundError("gone");
                                                if (substitutes.contains(record))
                                                  looks.pass(record);
                                              },
                                          .knows_extents = false});
  const auto engine = rig.make();
  EXPECT_EQ(engine->next(std::chrono::milliseconds(0)).status, Engine::Status::kTimeout);
  EXPECT_TRUE(looks.await(kRows));
  looks.release(kAll);
  rig.container = made_records(4'000);
  EXPECT_EQ(all_said(*engine, 30), expected(rig, 30));
  EXPECT_EQ(engine->bad_records().size(), kRows);
}

// A batch of four rows, of which the first is bad and the last is not read before the test lets it,
// and after it one whose files are not found before that.
TEST(EngineReads, a_substitute_waits_neither_for_reads_nor_for_looks_of_others) {
  constexpr uint64_t kRows = 4;
  constexpr uint64_t kLate = kRows - 1;
  Gate late_read;
  Gate looks;
  const auto records = made_records(4'000);
  const uint64_t late_offset = records->extent(kLate).offset;
  ContainerHooks hooks;
  hooks.knows_extents = false;
  hooks.extent = [&](uint64_t record) {
    if (record / kRows == 1) looks.pass();
  };
  hooks.read = [&](uint64_t offset, uint64_t) {
    if (offset == late_offset) late_read.pass();
  };
  Rig rig;
  rig.container = std::make_shared<HookedContainer>(records, hooks);
  rig.order = {.records = 4'000, .batch_size = kRows};
  rig.engine = {.threads = 1, .prefetch = 2, .read_threads = 8, .max_read_threads = 0, .group = 1};
  rig.policy = {.on_error = OnError::kSkip, .max_bad = 100};
  rig.worker.bad = {0};
  std::atomic<size_t> processed = 0;
  rig.worker.before = [&](std::span<const Task> tasks) { processed += tasks.size(); };
  const auto engine = rig.make();
  EXPECT_EQ(engine->next(std::chrono::milliseconds(0)).status, Engine::Status::kTimeout);
  EXPECT_TRUE(within_patience([&] { return processed >= kRows; }));  // the bad one twice
  late_read.open();
  std::vector<Said> said{said_by(*engine)};
  looks.open();
  while (said.size() < 10) said.push_back(said_by(*engine));
  rig.container = records;
  EXPECT_EQ(said, expected(rig, 10));
}

// Says when its user sleeps until the one read ends that is left.
class WatchedQueue final : public ReadQueue {
 public:
  WatchedQueue(std::unique_ptr<ReadQueue> inner, std::atomic<bool>& waits_for_last)
      : inner_(std::move(inner)), waits_for_last_(waits_for_last) {}
  void submit(std::span<const ReadRequest> requests) override { inner_->submit(requests); }
  size_t wait(std::span<Completion> into, size_t at_least) override {
    if (at_least > 0 && in_flight() == 1) waits_for_last_ = true;
    return inner_->wait(into, at_least);
  }
  void interrupt() override { inner_->interrupt(); }
  void cancel() override { inner_->cancel(); }
  size_t in_flight() const override { return inner_->in_flight(); }
  void set_threads(int threads) override { inner_->set_threads(threads); }
  const char* backend_name() const override { return inner_->backend_name(); }

 private:
  const std::unique_ptr<ReadQueue> inner_;
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
  rig.order = {.records = 4'000, .batch_size = kRows};
  rig.engine = {.threads = 1, .prefetch = 3, .max_read_threads = 0, .group = 1};
  Gate worker;
  rig.worker.before = [&](auto) { worker.pass(); };
  std::atomic<bool> waits_for_last = false;
  rig.engine.make_queue = [&](const ReadQueueOptions& options) {
    return std::make_unique<WatchedQueue>(make_read_queue(options), waits_for_last);
  };
  const auto engine = rig.make();
  EXPECT_EQ(engine->next(std::chrono::milliseconds(0)).status, Engine::Status::kTimeout);
  EXPECT_TRUE(within_patience([&] { return waits_for_last.load(); }));
  worker.open();
  // With two batches gone the fifth is read, though the last of the third is not yet.
  std::vector<Said> said;
  for (int batch = 0; batch < 2; ++batch) said.push_back(said_by(*engine));
  EXPECT_TRUE(within_patience([&] { return engine->stats().fetch.items >= 5 * kRows - 1; }));
  late_read.open();
  while (said.size() < 10) said.push_back(said_by(*engine));
  EXPECT_EQ(said, expected(rig, 10));
}

// Workers are busy, so the fetch thread waits for four reads, of which one stands; then they have
// nothing to do but the other three.
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
  rig.order = {.records = 4'000, .batch_size = kRows};
  rig.engine = {
      .threads = 1, .prefetch = 1, .read_threads = 2, .max_read_threads = 0, .group = kRows - 1};
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

// Batches of 8 rows, of which one is prefetched, read so far ahead that the bound is full: the
// batch after the next but one holds a record larger than the bound, and workers may not begin it
// before the next one, of which one record is bad, has been handed out. Until then the large record
// and six before it keep their buffers, more than the four that are always let in.
struct FullReadAhead : SlowStorage {
  static constexpr uint64_t kRows = 8;
  static constexpr uint64_t kNext = 3;  // a batch
  static constexpr uint64_t kBad = kRows * kNext;
  static constexpr uint64_t kLarge = kBad + 2 * kRows + 6;

  FullReadAhead() : SlowStorage(kRows, 1, records()) {
    rig.engine.read_ahead_bytes = 128 * 1024;
    rig.policy = {.on_error = OnError::kSkip, .max_bad = 100};
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
  // The record that stands in for a bad one, in an order of which no record comes twice.
  uint64_t substitute_of(uint64_t record) const {
    const auto sampler = rig.sampler();
    std::optional<BatchPlan> plan;
    for (uint64_t batch = 0; batch <= record / kRows; ++batch) plan = sampler->next();
    return used_entry(rig, *sampler, *plan, record % kRows).record;
  }
  // Takes the batches before the next, whose bad record stands at its gate, and waits until all are
  // read up to the large one. That takes one doubling of the depth, which the first round brings:
  // eight reads are planned sixteen rows ahead, and no more than eight are not taken by workers
  // where the large one's batch is next. No read waits for another, nor for a worker.
  void fill(Engine& engine) {
    std::thread consumer([&] {
      said = all_said(engine, kNext);
      handed_out = said.size();
    });
    answer_first(engine);
    storage.release(kAll);
    consumer.join();
    EXPECT_TRUE(within_patience([&] { return engine.stats().fetch.items > kLarge; }));
    EXPECT_EQ(engine.stats().fetch.items, kLarge + 1);
  }
  // What `next` gives from then on, each within a time that no right engine needs.
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

TEST(EngineReads, a_substitute_finds_room_where_batches_far_ahead_fill_the_bound) {
  FullReadAhead full;
  const auto engine = full.rig.make();
  full.fill(*engine);
  full.bad_record.open();
  full.go_on(*engine);
  EXPECT_EQ(full.said, expected(full.rig, full.said.size()));
}

// The record behind the large one is not found: by the time that the large one has been read, the
// bound is full and a substitute is wanted.
TEST(EngineReads, a_substitute_far_ahead_waits_until_its_batch_is_due_and_keeps_nobody_waiting) {
  constexpr uint64_t kFar = FullReadAhead::kLarge + 1;
  FullReadAhead full;
  full.rig.worker.bad.insert(kFar);
  const uint64_t substitute = full.rig.container->extent(full.substitute_of(kFar)).offset;
  std::atomic<size_t> read_after = 0;  // so many batches
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

// Who feeds an order makes as many batches as will be handed out: asking for more would wait.
TEST(EngineReads, fed_order_is_asked_for_no_more_than_is_prefetched) {
  constexpr size_t kPrefetch = 2;
  SlowStorage slow(4, kPrefetch);
  slow.storage.release(kAll);
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
  EXPECT_LE(most_ahead, kPrefetch + 2);  // one is on its way to the user, and not counted yet
}

TEST(EngineReads, storage_that_keeps_up_is_read_no_deeper) {
  Rig rig;
  rig.container = made_records(2'000);
  rig.order = {.records = 2'000, .batch_size = 500};
  rig.engine = {.threads = 2};
  Gate gate;
  rig.worker.before = [&](auto) { gate.pass(); };
  const auto engine = rig.make();
  EXPECT_EQ(engine->next(std::chrono::milliseconds(0)).status, Engine::Status::kTimeout);
  while (engine->stats().fetch.items < 500) std::this_thread::yield();
  EXPECT_EQ(engine->stats().reads_at_once, 4u);  // though the first records found nobody waiting
  gate.open();
  EXPECT_EQ(said_by(*engine), expected(rig, 1)[0]);
}

// An order of one batch: what each call of a map-style data set is.
std::unique_ptr<Sampler> order_of_one_batch(uint64_t records, uint64_t rows) {
  FedBatch batch;
  for (uint64_t i = 0; i < rows; ++i) batch.records.push_back(100 + i);
  return std::make_unique<FedSampler>(records,
                                      [batch, fed = false]() mutable -> std::optional<FedBatch> {
                                        if (std::exchange(fed, true)) return std::nullopt;
                                        return batch;
                                      });
}

TEST(EngineReads, storage_that_keeps_up_is_read_no_deeper_however_often_an_order_begins) {
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

TEST(EngineReads, slow_storage_is_read_deeper_though_each_batch_is_an_order_of_its_own) {
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

TEST(EngineReads, depth_changes_no_batch) {
  for (const uint64_t batch_size : {1u, 3u, 16u}) {
    for (const size_t prefetch : {1u, 2u}) {
      Rig rig;
      rig.container = made_records(500);
      rig.order.records = 500;
      rig.order.batch_size = batch_size;
      rig.engine = {.threads = 4, .prefetch = prefetch, .read_threads = 1};
      rig.worker.jitter = 2'000;
      EXPECT_EQ(all_said(*rig.make(), 1'200), expected(rig, 1'200));
    }
  }
}

TEST(EngineReads, every_backend_gives_the_same_batches_direct_or_not) {
  Rig rig;
  rig.container = std::make_shared<FileRecords>(300);
  rig.order.records = 300;
  for (const Shuffle shuffle : {Shuffle::kNone, Shuffle::kFull}) {
    rig.order.shuffle = shuffle;
    const std::vector<Said> want = expected(rig, 80);
    for (const int threads : {0, 3}) {
      for (const ReadBackend backend : {ReadBackend::kPread, ReadBackend::kAuto}) {
        for (const bool direct : {false, true}) {
          rig.engine.read_threads = threads;
          rig.engine.read_backend = backend;
          rig.engine.direct_reads = direct;
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
  rig.order = {.records = 200, .batch_size = 200};
  Gate gate;
  rig.worker.before = [&](auto) { gate.pass(); };
  rig.engine.read_ahead_bytes = 40 * 4096;
  rig.engine.direct_reads = true;
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
  rig.engine.read_backend = ReadBackend::kPread;
  const auto engine = rig.make();
  EXPECT_EQ(engine->stats().read_backend, "");
  engine->next();
  EXPECT_EQ(engine->stats().read_backend, "pread");
}

}  // namespace
}  // namespace fuelrail
