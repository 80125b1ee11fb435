#include "fuelrail/storage/local/local_sink.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/storage/local/local_file_system.h"
#include "fuelrail/testing/forbidden_call.h"
#include "fuelrail/testing/forked.h"
#include "fuelrail/testing/refusal.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {
namespace {

std::vector<std::string> names_in(const TemporaryDirectory& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::refusal_of;

TEST(LocalSink, writes_beside_the_final_name) {
  const TemporaryDirectory directory;
  const auto sink = local_file_system().create(directory / "x");
  EXPECT_THAT(names_in(directory), ElementsAre("x.partial"));
  sink->commit();
  EXPECT_THAT(names_in(directory), ElementsAre("x"));
}

TEST(LocalSink, syncing_writes_all_bytes_and_gives_no_name) {
  const TemporaryDirectory directory;
  const auto sink = local_file_system().create(directory / "x");
  sink->write(as_bytes("abc"));
  sink->sync();
  EXPECT_EQ(file_contents(directory / "x.partial"), "abc");
  sink->write(as_bytes("de"));
  sink->commit();
  EXPECT_THAT(names_in(directory), ElementsAre("x"));
  EXPECT_EQ(file_contents(directory / "x"), "abcde");
}

TEST(LocalSink, a_second_writer_takes_the_next_partial_name) {
  const TemporaryDirectory directory;
  const auto first = local_file_system().create(directory / "x");
  auto second = local_file_system().create(directory / "x");
  EXPECT_THAT(names_in(directory), ElementsAre("x.1.partial", "x.partial"));
  EXPECT_TRUE(first->is_first_writer());
  EXPECT_FALSE(second->is_first_writer());
  second.reset();
  EXPECT_THAT(names_in(directory), ElementsAre("x.partial"));
}

TEST(LocalSink, a_killed_writer_leaves_a_partial_that_the_next_one_takes_over) {
  const TemporaryDirectory directory;
  EXPECT_EQ(in_forked_child([&]() -> std::string {
              const auto sink = local_file_system().create(directory / "x");
              sink->write(Bytes(std::vector<std::byte>(3'000'000, std::byte{'o'})));
              ::raise(SIGKILL);
              return "alive";
            }),
            "");
  EXPECT_THAT(names_in(directory), ElementsAre("x.partial"));
  EXPECT_EQ(std::filesystem::file_size(directory / "x.partial"), 3'000'000u);
  const auto sink = local_file_system().create(directory / "x");
  sink->write(as_bytes("new"));
  EXPECT_THAT(names_in(directory), ElementsAre("x.partial"));
  sink->commit();
  EXPECT_THAT(names_in(directory), ElementsAre("x"));
  EXPECT_EQ(file_contents(directory / "x"), "new");
}

TEST(LocalSink, what_was_left_is_gone_on_with) {
  const TemporaryDirectory directory;
  {
    const auto sink = local_file_system().create(directory / "x");
    sink->write(as_bytes("abc"));
    sink->leave_partial(true);
  }
  EXPECT_THAT(names_in(directory), ElementsAre("x.partial"));
  const auto sink = local_file_system().resume(directory / "x");
  EXPECT_EQ(sink->position(), 3u);
  std::vector<std::byte> begin(3);
  sink->read_back(0, begin);
  EXPECT_EQ(as_text(begin), "abc");
  sink->write(as_bytes("de"));
  sink->commit();
  EXPECT_THAT(names_in(directory), ElementsAre("x"));
  EXPECT_EQ(file_contents(directory / "x"), "abcde");
}

TEST(LocalSink, going_on_with_nothing_begins_anew_and_removes_it_again) {
  const TemporaryDirectory directory;
  {
    const auto sink = local_file_system().resume(directory / "x");
    EXPECT_EQ(sink->position(), 0u);
    sink->write(as_bytes("abc"));
  }
  EXPECT_THAT(names_in(directory), IsEmpty());
}

TEST(LocalSink, flushing_hands_all_bytes_to_the_system) {
  const TemporaryDirectory directory;
  const auto sink = local_file_system().create(directory / "x");
  sink->write(as_bytes("abc"));
  sink->flush();
  EXPECT_EQ(file_contents(directory / "x.partial"), "abc");
}

TEST(LocalSink, a_partial_that_is_a_finished_file_too_is_not_written_over) {
  const TemporaryDirectory directory;
  write_file(directory / "x", "finished");
  std::filesystem::create_hard_link(directory / "x", directory / "x.partial");
  const auto sink = local_file_system().create(directory / "x");
  sink->write(as_bytes("new"));
  EXPECT_FALSE(sink->commit_new());
  EXPECT_EQ(file_contents(directory / "x"), "finished");
}

TEST(LocalSink, a_dangling_link_takes_the_name_of_a_new_file) {
  const TemporaryDirectory directory;
  std::filesystem::create_symlink("nothing", directory / "x");
  EXPECT_FALSE(local_file_system().create(directory / "x")->commit_new());
  EXPECT_THAT(names_in(directory), ElementsAre("x"));
}

TEST(LocalSink, a_link_in_the_place_of_a_partial_is_not_followed) {
  const TemporaryDirectory directory;
  write_file(directory / "precious", "kept");
  std::filesystem::create_symlink("precious", directory / "x.partial");
  const auto sink = local_file_system().create(directory / "x");
  sink->write(as_bytes("new"));
  sink->commit();
  EXPECT_EQ(file_contents(directory / "precious"), "kept");
  EXPECT_EQ(file_contents(directory / "x"), "new");
}

TEST(LocalSink, a_forked_child_neither_writes_nor_removes) {
  const TemporaryDirectory directory;
  auto sink = local_file_system().create(directory / "x");
  sink->write(as_bytes("parent"));
  EXPECT_EQ(in_forked_child([&]() -> std::string {
              std::vector<std::byte> into(6);
              const std::vector<std::function<void()>> acts{
                  [&] { sink->write(as_bytes("child")); },
                  [&] { sink->rewrite(0, as_bytes("child")); }, [&] { sink->read_back(0, into); },
                  [&] { sink->truncate(0); }};
              for (const auto& act : acts) {
                if (refusal_of<StateError>(act).empty()) return "accepted";
              }
              sink.reset();
              return "refused";
            }),
            "refused");
  sink->commit();
  EXPECT_EQ(file_contents(directory / "x"), "parent");
}

// Simulates a file system or a kernel without renameat2. Returns: the result of committing a new
// file; empty if the test must be skipped.
std::optional<std::string> committed_new_without_renameat2(const std::string& path) {
  return in_child_without(SYS_renameat2, ENOSYS, [&]() -> std::string {
    const auto sink = local_file_system().create(path);
    sink->write(as_bytes("new"));
    return sink->commit_new() ? "named" : "taken";
  });
}

TEST(LocalSink, a_new_file_gets_its_name_where_there_is_no_renameat2) {
  const TemporaryDirectory directory;
  const auto said = committed_new_without_renameat2(directory / "x");
  if (!said) GTEST_SKIP() << kNoFilters;
  EXPECT_EQ(*said, "named");
  EXPECT_THAT(names_in(directory), ElementsAre("x"));
  EXPECT_EQ(file_contents(directory / "x"), "new");
  EXPECT_EQ(std::filesystem::hard_link_count(directory / "x"), 1u);
}

TEST(LocalSink, a_new_file_replaces_nothing_where_there_is_no_renameat2) {
  const TemporaryDirectory directory;
  write_file(directory / "x", "old");
  const auto said = committed_new_without_renameat2(directory / "x");
  if (!said) GTEST_SKIP() << kNoFilters;
  EXPECT_EQ(*said, "taken");
  EXPECT_THAT(names_in(directory), ElementsAre("x"));
  EXPECT_EQ(file_contents(directory / "x"), "old");
}

TEST(LocalSink, nothing_more_can_be_done_after_a_commit_and_the_error_says_so) {
  const TemporaryDirectory directory;
  const std::vector<std::function<void(Sink&)>> acts{
      [](Sink& sink) { sink.write(as_bytes("more")); }, [](Sink& sink) { sink.sync(); },
      [](Sink& sink) { sink.commit(); }, [](Sink& sink) { static_cast<void>(sink.commit_new()); }};
  for (const auto& act : acts) {
    const auto sink = local_file_system().create(directory / "x");
    sink->write(as_bytes("done"));
    sink->commit();
    EXPECT_EQ(refusal_of<StateError>([&] { act(*sink); }),
              directory / "x" + ": the file is committed; nothing more can be written");
    EXPECT_EQ(file_contents(directory / "x"), "done");
  }
}

TEST(LocalSink, a_name_that_was_taken_gives_the_file_up) {
  const TemporaryDirectory directory;
  write_file(directory / "x", "old");
  const auto sink = local_file_system().create(directory / "x");
  EXPECT_FALSE(sink->commit_new());
  EXPECT_EQ(
      refusal_of<StateError>([&] { sink->write(as_bytes("more")); }),
      directory / "x" + ": an earlier write or commit failed, so the file cannot be completed");
}

TEST(LocalSink, a_directory_that_has_taken_the_name_meanwhile_is_an_error_that_leaves_nothing) {
  const TemporaryDirectory directory;
  auto sink = local_file_system().create(directory / "x");
  std::filesystem::create_directory(directory / "x");
  const std::string message = refusal_of<IoError>([&] { sink->commit(); });
  EXPECT_THAT(message, HasSubstr(directory / "x"));
  EXPECT_THAT(message, HasSubstr("cannot rename the file to its final name"));
  sink.reset();
  EXPECT_THAT(names_in(directory), ElementsAre("x"));
}

TEST(LocalSink, a_partial_that_somebody_removed_cannot_be_committed) {
  const TemporaryDirectory directory;
  const auto sink = local_file_system().create(directory / "x");
  std::filesystem::remove(directory / "x.partial");
  EXPECT_THAT(refusal_of<NotFoundError>([&] { sink->commit(); }), HasSubstr(directory / "x"));
  EXPECT_THAT(names_in(directory), IsEmpty());
}

TEST(LocalSink, what_somebody_cut_off_cannot_be_read_back_and_gives_the_file_up) {
  const TemporaryDirectory directory;
  const auto sink = local_file_system().create(directory / "x");
  sink->write(as_bytes("abcdef"));
  sink->sync();
  std::filesystem::resize_file(directory / "x.partial", 4);
  std::vector<std::byte> into(6);
  const std::string message = refusal_of<IoError>([&] { sink->read_back(0, into); });
  EXPECT_THAT(message, HasSubstr("offset 4: cannot read back the unfinished file"));
  EXPECT_THAT(refusal_of<StateError>([&] { sink->commit(); }),
              HasSubstr("an earlier write or commit failed"));
}

TEST(LocalSink, a_pipe_and_a_device_are_not_replaced) {
  const TemporaryDirectory directory;
  ASSERT_EQ(::mkfifo((directory / "pipe").c_str(), 0666), 0);
  for (const std::string& name : {directory / "pipe", std::string("/dev/null")}) {
    EXPECT_THAT(refusal_of<InvalidArgumentError>([&] { local_file_system().create(name); }),
                HasSubstr("this is not a regular file"));
    EXPECT_FALSE(std::filesystem::is_regular_file(name));
  }
}

TEST(LocalSink, a_pipe_in_the_place_of_a_partial_is_left_alone) {
  const TemporaryDirectory directory;
  ASSERT_EQ(::mkfifo((directory / "x.partial").c_str(), 0666), 0);
  const auto sink = local_file_system().create(directory / "x");
  EXPECT_THAT(names_in(directory), ElementsAre("x.1.partial", "x.partial"));
}

// The limit on file sizes simulates a full disk: the system accepts a part of a write, then
// refuses.
std::string write_past_the_limit(const std::string& path, size_t piece_bytes) {
  return in_forked_child([&]() -> std::string {
    const rlimit limit{100'000, 100'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::signal(SIGXFSZ, SIG_IGN);
    const auto sink = local_file_system().create(path);
    const std::vector<std::byte> piece(piece_bytes);
    try {
      for (size_t written = 0; written < 4'000'000; written += piece_bytes) sink->write(piece);
      sink->commit();
    } catch (const IoError& error) {
      try {
        sink->commit();
      } catch (const StateError&) {
        return error.what();
      }
    }
    return "no error";
  });
}

TEST(LocalSink, a_full_disk_is_an_error_that_leaves_nothing) {
  for (const size_t piece_bytes : {1'000u, 90'000u, 2'000'000u}) {
    const TemporaryDirectory directory;
    write_file(directory / "x", "old");
    const std::string message = write_past_the_limit(directory / "x", piece_bytes);
    EXPECT_THAT(message, HasSubstr(directory / "x"));
    EXPECT_THAT(message, HasSubstr("offset 100000"));
    EXPECT_THAT(message, HasSubstr("expected room for"));
    EXPECT_THAT(message, HasSubstr("File too large"));
    EXPECT_THAT(names_in(directory), ElementsAre("x"));
    EXPECT_EQ(file_contents(directory / "x"), "old");
  }
}

TEST(LocalSink, a_full_disk_at_commit_is_an_error_that_leaves_nothing) {
  const TemporaryDirectory directory;
  const std::string message = in_forked_child([&]() -> std::string {
    const rlimit limit{100, 100};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::signal(SIGXFSZ, SIG_IGN);
    const auto sink = local_file_system().create(directory / "x");
    sink->write(std::vector<std::byte>(101));  // still in the sink's buffer
    try {
      sink->commit();
    } catch (const IoError& error) {
      return error.what();
    }
    return "no error";
  });
  EXPECT_THAT(message, HasSubstr("expected room for 1 bytes"));
  EXPECT_THAT(names_in(directory), IsEmpty());
}

TEST(LocalSink, a_directory_without_permission_is_an_io_error) {
  const TemporaryDirectory directory;
  std::filesystem::permissions(directory.path(), std::filesystem::perms::owner_read);
  const std::string message = in_unprivileged_child([&]() -> std::string {
    try {
      local_file_system().create(directory / "x");
    } catch (const IoError& error) {
      return error.what();
    }
    return "no error";
  });
  std::filesystem::permissions(directory.path(), std::filesystem::perms::owner_all);
  EXPECT_THAT(message, HasSubstr("Permission denied"));
}

}  // namespace
}  // namespace fuelrail
