// The pool and its workers, whose program is this test program: see `be_a_worker`.
#include "fuelrail/container/made/worker_pool.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/made/worker_channel.h"
#include "fuelrail/testing/forked.h"
#include "fuelrail/testing/temporary_directory.h"
#include "fuelrail/testing/turnstile.h"

namespace fuelrail::made {
namespace {

// What a worker does with these records; the others are their number and the worker's process.
enum Record : uint64_t {
  kLarge = 100,  // 9,000,000 bytes, of the value 7
  kFails,        // a NotFoundError
  kExits,        // the process ends with code 3
  kExitsOnce,    // ... if it is the first that makes this record
  kIsKilled,
  kHangs,
  kNaps,             // takes 0.1 s
  kStartsProcess,    // its text is the number of a process that waits for ever
  kIsKilledWithout,  // such a process has a copy of the connection, and is not killed
  kForks,            // the child writes and answers, too, after `<folder>/go` exists
};
constexpr uint64_t kLargeBytes = 9'000'000;

pid_t waiting_process() {
  const pid_t process = ::fork();
  while (process == 0) ::pause();
  return process;
}

std::string make_text(uint64_t record, const std::string& folder) {
  switch (record) {
    case kFails:
      throw NotFoundError("the file is missing", {.path = "x.jpg",
                                                  .field = "image",
                                                  .expected = "a file",
                                                  .found = "none",
                                                  .remedy = "Look for it"});
    case kExits:
      ::_exit(3);
    case kExitsOnce:
      if (!std::filesystem::create_directory(folder + "/once")) return "made again";
      ::_exit(3);
    case kIsKilled:
      ::raise(SIGKILL);
      break;
    case kHangs:
      for (;;) ::pause();
    case kNaps:
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      break;
    case kStartsProcess:
      return std::to_string(waiting_process());
    case kIsKilledWithout:
      write_file(folder + "/process", std::to_string(waiting_process()));
      ::raise(SIGKILL);
      break;
    case kForks:
      if (::fork() == 0) {
        write_file(folder + "/child~", std::to_string(::getpid()));
        std::filesystem::rename(folder + "/child~", folder + "/child");
        within_patience([&] { return std::filesystem::exists(folder + "/go"); });
      }
      break;
    default:
      break;
  }
  return std::to_string(record) + " " + std::to_string(::getpid());
}

int be_a_worker(pid_t parent) {
  WorkerChannel channel(parent);
  const std::string told(as_text(channel.greeting()));
  if (told == "refuse") {
    channel.refuse("this worker does not want to");
    return 0;
  }
  channel.ready();
  while (const auto record = channel.next()) {
    try {
      if (*record == kLarge) {
        const MutableBytes room = channel.room(kLargeBytes);
        std::fill_n(room.begin(), kLargeBytes, std::byte{7});
        channel.answer(kLargeBytes);
        continue;
      }
      const std::string text = make_text(*record, told);
      std::ranges::copy(as_bytes(text), channel.room(text.size()).begin());
      channel.answer(text.size());
    } catch (const Error& error) {
      channel.fail(error);
    }
  }
  return 0;
}

// Runs before `main` of GoogleTest.
__attribute__((constructor)) void maybe_be_a_worker(int count, char** words) {
  if (count == 3 && std::string(words[1]) == "be-a-worker") ::_exit(be_a_worker(::atoi(words[2])));
}

PoolOptions options_for(const std::string& greeting, size_t workers = 1) {
  const Bytes bytes = as_bytes(greeting);
  return {.program = {.executable = "/proc/self/exe", .arguments = {"be-a-worker"}},
          .greeting = {bytes.begin(), bytes.end()},
          .workers = workers};
}

std::string text_of(const Source& source) { return std::string(as_text(source.memory())); }

// The process that made it.
std::string maker_of(const Source& source) {
  const std::string text = text_of(source);
  return text.substr(text.find(' ') + 1);
}

// A child that keeps copies of its parent's sockets for a while, but not the test's pipe.
[[noreturn]] void keep_sockets() {
  for (int number = 3; number < 256; ++number) {
    struct stat status {};
    if (::fstat(number, &status) == 0 && S_ISFIFO(status.st_mode)) ::close(number);
  }
  ::sleep(3);
  ::_exit(0);
}

bool runs(const std::string& process) {
  return std::filesystem::exists("/proc/" + process) &&
         file_contents("/proc/" + process + "/stat").find(") Z ") == std::string::npos;
}

class WorkerPoolTest : public ::testing::Test {
 protected:
  const TemporaryDirectory directory_;
  const std::string folder_ = directory_.path();
};

TEST_F(WorkerPoolTest, one_worker_makes_all_records_while_one_is_wanted_at_a_time) {
  const WorkerPool pool(options_for(folder_, 4));
  const std::string first = maker_of(*pool.make(0, {}));
  for (uint64_t record = 1; record < 10; ++record) {
    const auto source = pool.make(record, {});
    EXPECT_EQ(text_of(*source), std::to_string(record) + " " + first);
    EXPECT_EQ(source->size_bytes(), source->memory().size());
  }
}

TEST_F(WorkerPoolTest, workers_are_as_many_as_records_are_wanted_at_once) {
  const WorkerPool pool(options_for(folder_, 3));
  std::mutex mutex;
  std::set<std::string> makers;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 6; ++thread) {
    threads.emplace_back([&] {
      for (uint64_t record = 0; record < 50; ++record) {
        const std::string maker = maker_of(*pool.make(record, {}));
        const std::lock_guard lock(mutex);
        makers.insert(maker);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(makers.size(), 3u);
}

TEST_F(WorkerPoolTest, a_large_record_stays_unchanged_while_its_source_lives) {
  auto pool = std::make_unique<WorkerPool>(options_for(folder_));
  std::vector<std::shared_ptr<const Source>> kept;
  for (int i = 0; i < 3; ++i) kept.push_back(pool->make(kLarge, {}));
  EXPECT_EQ(pool->make(5, {})->memory()[0], std::byte{'5'});
  pool.reset();
  for (const auto& source : kept) {
    ASSERT_EQ(source->size_bytes(), kLargeBytes);
    EXPECT_TRUE(
        std::ranges::all_of(source->memory(), [](std::byte b) { return b == std::byte{7}; }));
    std::byte last{};
    source->read(kLargeBytes - 1, {&last, 1});
    EXPECT_EQ(last, std::byte{7});
  }
}

TEST_F(WorkerPoolTest, memory_of_released_records_is_used_again) {
  const WorkerPool pool(options_for(folder_));
  const auto first = pool.make(kLarge, {})->memory().data();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(pool.make(kLarge, {})->memory().data(), first);
}

TEST_F(WorkerPoolTest, an_error_of_a_record_keeps_its_kind_and_details) {
  const WorkerPool pool(options_for(folder_));
  try {
    pool.make(kFails, {});
    FAIL();
  } catch (const NotFoundError& error) {
    EXPECT_STREQ(error.what(),
                 "x.jpg: field 'image': the file is missing: expected a file, found none. "
                 "Look for it.");
  }
  EXPECT_EQ(text_of(*pool.make(1, {})).substr(0, 2), "1 ");
}

TEST_F(WorkerPoolTest, a_worker_that_ends_is_replaced_once_with_a_warning) {
  std::vector<std::string> warnings;
  PoolOptions options = options_for(folder_);
  options.warn = [&](const std::string& text) { warnings.push_back(text); };
  const WorkerPool pool(std::move(options));
  EXPECT_EQ(text_of(*pool.make(kExitsOnce, {})), "made again");
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0],
            "A worker process ended with exit code 3 while it made sample 103. A new process makes "
            "it again.");
}

TEST_F(WorkerPoolTest, a_worker_that_ends_twice_fails_and_says_how) {
  const WorkerPool pool(options_for(folder_));
  for (const auto& [record, how] :
       {std::pair(kExits, "exit code 3"), std::pair(kIsKilled, "signal 9 (SIGKILL)")}) {
    try {
      pool.make(record, {});
      FAIL();
    } catch (const StateError& error) {
      EXPECT_NE(error.failure().find(how), std::string::npos) << error.what();
    }
  }
  EXPECT_EQ(text_of(*pool.make(1, {})).substr(0, 2), "1 ") << "the pool stays usable";
}

TEST_F(WorkerPoolTest, an_idle_worker_that_was_killed_is_replaced) {
  const WorkerPool pool(options_for(folder_));
  const std::string first = maker_of(*pool.make(0, {}));
  ::kill(std::stoi(first), SIGKILL);
  EXPECT_NE(maker_of(*pool.make(0, {})), first);
}

// Whether all threads of a child process have ended. Its first thread may end before the others.
bool has_ended(const std::string& process) {
  siginfo_t end{};
  const auto id = static_cast<id_t>(std::stoi(process));
  return ::waitid(P_PID, id, &end, WEXITED | WNOHANG | WNOWAIT) == 0 && end.si_pid != 0;
}

TEST_F(WorkerPoolTest, idle_workers_that_were_killed_are_all_replaced) {
  std::mutex mutex;
  std::vector<std::string> warnings;
  PoolOptions options = options_for(folder_, 2);
  options.warn = [&](const std::string& text) {
    const std::lock_guard lock(mutex);
    warnings.push_back(text);
  };
  const WorkerPool pool(std::move(options));
  std::string makers[2];
  std::thread other([&] { makers[1] = maker_of(*pool.make(kNaps, {})); });
  makers[0] = maker_of(*pool.make(kNaps, {}));
  other.join();
  ASSERT_NE(makers[0], makers[1]);
  for (const std::string& maker : makers) ::kill(std::stoi(maker), SIGKILL);
  EXPECT_TRUE(within_patience([&] { return has_ended(makers[0]) && has_ended(makers[1]); }));
  EXPECT_EQ(text_of(*pool.make(7, {})).substr(0, 2), "7 ");
  EXPECT_EQ(warnings,
            std::vector<std::string>(
                2, "A worker process ended with signal 9 (SIGKILL) while it had nothing to do."));
}

TEST_F(WorkerPoolTest, processes_that_a_worker_has_started_end_with_it) {
  auto pool = std::make_unique<WorkerPool>(options_for(folder_));
  const std::string process = text_of(*pool->make(kStartsProcess, {}));
  EXPECT_TRUE(runs(process));
  pool.reset();
  EXPECT_TRUE(within_patience([&] { return !runs(process); }));
}

TEST_F(WorkerPoolTest, the_end_of_a_worker_is_seen_if_its_child_keeps_the_connection) {
  const WorkerPool pool(options_for(folder_));
  EXPECT_THROW(pool.make(kIsKilledWithout, {}), StateError);
  const std::string process = file_contents(folder_ + "/process");
  EXPECT_TRUE(within_patience([&] { return !runs(process); }));
}

TEST_F(WorkerPoolTest, a_forked_child_of_a_worker_neither_writes_nor_answers) {
  const WorkerPool pool(options_for(folder_));
  const std::string worker = maker_of(*pool.make(kForks, {}));
  ASSERT_TRUE(within_patience([&] { return std::filesystem::exists(folder_ + "/child"); }));
  const auto large = pool.make(kLarge, {});  // in the memory of the record before
  write_file(folder_ + "/go", "");
  const std::string child = file_contents(folder_ + "/child");
  EXPECT_TRUE(within_patience([&] { return !runs(child); }));
  EXPECT_EQ(std::ranges::count(large->memory(), std::byte{7}), kLargeBytes);
  for (const uint64_t record : {uint64_t{1}, uint64_t{2}, uint64_t{3}}) {
    EXPECT_EQ(text_of(*pool.make(record, {})), std::to_string(record) + " " + worker);
  }
}

TEST_F(WorkerPoolTest, a_refusal_is_the_error_of_every_record) {
  const WorkerPool pool(options_for("refuse"));
  for (uint64_t record = 0; record < 3; ++record) {
    try {
      pool.make(record, {});
      FAIL();
    } catch (const StateError& error) {
      EXPECT_STREQ(error.what(), "this worker does not want to");
    }
  }
}

TEST_F(WorkerPoolTest, a_program_that_is_missing_or_ends_at_once_is_an_error) {
  PoolOptions missing = options_for(folder_);
  missing.program.executable = folder_ + "/nothing";
  EXPECT_THROW(WorkerPool(std::move(missing)).make(0, {}), StateError);
  PoolOptions ends = options_for(folder_);
  ends.program = {.executable = "/bin/false", .arguments = {}};
  EXPECT_THROW(WorkerPool(std::move(ends)).make(0, {}), StateError);
}

TEST_F(WorkerPoolTest, a_record_that_hangs_ends_soon_after_it_is_not_wanted) {
  const WorkerPool pool(options_for(folder_));
  const std::string worker = maker_of(*pool.make(0, {}));
  int asked = 0;  // the first time before the request is sent
  EXPECT_THROW(pool.make(kHangs, [&asked] { return ++asked < 3; }), StateError);
  EXPECT_FALSE(runs(worker));
  EXPECT_NE(maker_of(*pool.make(0, {})), worker);
}

TEST_F(WorkerPoolTest, workers_end_with_the_pool) {
  auto pool = std::make_unique<WorkerPool>(options_for(folder_));
  const std::string worker = maker_of(*pool->make(0, {}));
  EXPECT_TRUE(runs(worker));
  pool.reset();
  EXPECT_FALSE(runs(worker));
}

TEST_F(WorkerPoolTest, a_forked_child_has_workers_of_its_own) {
  if (!child_can_start_threads()) return;
  const WorkerPool pool(options_for(folder_));
  const std::string worker = maker_of(*pool.make(0, {}));
  const std::string childs = in_forked_child([&] { return maker_of(*pool.make(0, {})); });
  EXPECT_NE(childs, worker);
  EXPECT_TRUE(within_patience([&] { return !runs(childs); })) << "it ends with the child";
  EXPECT_EQ(maker_of(*pool.make(0, {})), worker);
}

TEST_F(WorkerPoolTest, workers_end_if_their_parent_is_killed) {
  for (const uint64_t record : {uint64_t{0}, uint64_t{kHangs}}) {
    const std::string marker = folder_ + "/worker";
    in_forked_child([&]() -> std::string {
      const WorkerPool pool(options_for(folder_));
      write_file(marker, maker_of(*pool.make(0, {})));
      std::thread([&] { pool.make(record, {}); }).detach();
      if (::fork() == 0) keep_sockets();
      ::raise(SIGKILL);
      return "";
    });
    const std::string worker = file_contents(marker);
    EXPECT_TRUE(within_patience([&] { return !runs(worker); })) << record;
  }
}

TEST_F(WorkerPoolTest, no_descriptor_is_left_behind) {
  const auto descriptors = [] {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
  };
  {
    const WorkerPool warm(options_for(folder_));
    warm.make(0, {});
  }
  const auto before = descriptors();
  for (int i = 0; i < 3; ++i) {
    const WorkerPool pool(options_for(folder_));
    pool.make(kLarge, {});
    EXPECT_THROW(pool.make(kExits, {}), StateError);
  }
  EXPECT_EQ(descriptors(), before);
}

}  // namespace
}  // namespace fuelrail::made
