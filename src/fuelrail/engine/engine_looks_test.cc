// How the sizes of files are looked up: how many at the same time, and for how long.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/container/files/files_container.h"
#include "fuelrail/storage/file_system.h"
#include "fuelrail/testing/engine_rig.h"
#include "fuelrail/testing/temporary_directory.h"
#include "fuelrail/testing/turnstile.h"

namespace fuelrail {
namespace {

// A folder of images on a network file system, where looking up a file takes as long as a read.
TEST(EngineLooks, looks_at_files_are_as_many_at_once_as_reads) {
  Turnstile looks;
  Rig rig;
  rig.container = std::make_shared<HookedContainer>(
      made_records(2'000), ContainerHooks{.extent = [&](uint64_t record) { looks.pass(record); },
                                          .knows_extents = false});
  rig.sampling = {.records = 2'000, .order = {.shuffle = Shuffle::kFull, .batch_size = 500}};
  rig.engine = {.threads = 2, .read = {.threads = 40}, .max_read_threads = 0};
  const auto engine = rig.make();
  EXPECT_EQ(engine->next(std::chrono::milliseconds(0)).status, Engine::Status::kTimeout);
  EXPECT_TRUE(looks.await(40));
  EXPECT_TRUE(within_patience([&] { return engine->stats().fetch.busy_seconds > 0.01; }));
  EXPECT_EQ(engine->stats().fetch.waiting_seconds, 0) << "it waits for storage, not for room";
  looks.open();
  rig.container = made_records(2'000);
  EXPECT_EQ(all_said(*engine, 9), expected(rig, 9));
}

// Files whose look-ups end only when the test allows it.
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
  void rename(const std::string& from, const std::string& to) override { inner_.rename(from, to); }
  void make_directory(const std::string& uri) override { inner_.make_directory(uri); }

 private:
  FileSystem& inner_;
  Turnstile& looks_;
};

TEST(EngineLooks, the_files_of_a_folder_are_looked_at_many_at_once) {
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
  rig.sampling.records = 60;
  rig.sampling.order.batch_size = 30;
  rig.engine = {.threads = 2, .read = {.threads = 25}, .max_read_threads = 0};
  const auto engine = rig.make();
  EXPECT_EQ(engine->next(std::chrono::milliseconds(0)).status, Engine::Status::kTimeout);
  EXPECT_TRUE(looks.await(25));
  looks.open();
  EXPECT_EQ(all_said(*engine, 6), expected(rig, 6));
}

TEST(EngineLooks, looks_change_no_batch_and_no_error) {
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
        rig.sampling = {.records = 300,
                        .order = {.seed = 5, .shuffle = Shuffle::kFull, .batch_size = 7}};
        rig.engine = {.threads = 3, .read = {.threads = read_threads}};
        rig.worker.jitter = 1'000;
        rig.policy.on_error = on_error;
        if (on_error == OnError::kSkip) rig.policy.max_bad = Allowance{.count = 1'000};
        const auto engine = rig.make();
        said.push_back(all_said(*engine, 70));
        engine->restart(rig.sampler({.epoch = 4, .position = 21}));
        for (Said& each : all_said(*engine, 50)) said.back().push_back(std::move(each));
      }
      EXPECT_EQ(said[0], said[1]);
    }
  }
}

// Four files are looked up at the same time. A look-up in the first half ends when the test allows
// it.
struct HeldBackLooks {
  static constexpr uint64_t kHeldBack = 2'000;

  HeldBackLooks() {
    rig.sampling = {.records = 2 * kHeldBack, .order = {.batch_size = 8}};
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

TEST(EngineLooks, an_engine_that_stops_ends_looks_and_begins_no_further) {
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
  held.looks.open();
  stopper.join();
  EXPECT_EQ(held.looks.arrived(), 4u);
}

TEST(EngineLooks, an_order_that_is_given_up_is_looked_at_no_further) {
  HeldBackLooks held;
  const auto engine = held.rig.make();
  EXPECT_EQ(engine->next(std::chrono::milliseconds(0)).status, Engine::Status::kTimeout);
  EXPECT_TRUE(held.looks.await(4));
  const Progress start{.epoch = 0, .position = HeldBackLooks::kHeldBack};
  for (int i = 0; i < 3; ++i) engine->restart(held.rig.sampler(start));
  held.looks.open();
  held.rig.container = made_records(4'000);
  EXPECT_EQ(all_said(*engine, 20), expected(held.rig, 20, start));
  EXPECT_EQ(held.looks.arrived(), 4u);
}

TEST(EngineLooks, an_engine_that_fails_begins_no_further_look) {
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
  held.looks.open();
  engine->stop();
  EXPECT_EQ(held.looks.arrived(), 4u);
}

// Every record of the first batch is missing.
TEST(EngineLooks, what_stands_in_for_missing_files_is_looked_at_many_at_once) {
  constexpr uint64_t kRows = 8;
  Turnstile looks;
  Rig rig;
  rig.sampling = {.records = 4'000, .order = {.batch_size = kRows}};
  rig.engine = {.threads = 2, .prefetch = 1, .read = {.threads = kRows}, .max_read_threads = 0};
  rig.policy = {.on_error = OnError::kSkip, .max_bad = Allowance{.count = 100}};
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
  looks.open();
  rig.container = made_records(4'000);
  EXPECT_EQ(all_said(*engine, 30), expected(rig, 30));
  EXPECT_EQ(engine->bad_records().size(), kRows);
}

// A batch of four rows, whose first record is bad and whose last one is not read before the test
// allows it, and after it a batch whose files are not found before that.
TEST(EngineLooks, a_substitute_waits_neither_for_reads_nor_for_looks_of_others) {
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
  rig.sampling = {.records = 4'000, .order = {.batch_size = kRows}};
  rig.engine = {
      .threads = 1, .prefetch = 2, .read = {.threads = 8}, .max_read_threads = 0, .group = 1};
  rig.policy = {.on_error = OnError::kSkip, .max_bad = Allowance{.count = 100}};
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

}  // namespace
}  // namespace fuelrail
