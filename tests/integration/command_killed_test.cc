// `fuelrail pack` and `im2rec` ended at many moments, by Ctrl-C and by a kill. The moments are the
// changes of the output folder (the k-th of them, for every k) and points in time; what is asserted
// is only what must hold at any moment.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "command.h"
#include "fuelrail/base/bytes.h"
#include "fuelrail/testing/photograph_folder.h"
#include "fuelrail/testing/photographs.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {
namespace {

using testing::Command;
using testing::CommandResult;
using testing::run_command;
using ::testing::StartsWith;

// Tells of changes in a folder, in their order.
class FolderWatch {
 public:
  explicit FolderWatch(const std::string& folder) : queue_(::inotify_init1(IN_CLOEXEC)) {
    ::inotify_add_watch(queue_, folder.c_str(),
                        IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_MOVE | IN_DELETE);
  }
  ~FolderWatch() { ::close(queue_); }
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;

  // Waits until `count` changes were seen since the beginning. Returns: false when the command
  // ended before that.
  bool wait_for(int count, const Command& command) {
    while (seen_ < count) {
      pollfd poll{.fd = queue_, .events = POLLIN, .revents = 0};
      if (::poll(&poll, 1, 5) > 0) {
        read_changes();
      } else if (command.has_ended()) {
        return false;
      }
    }
    return true;
  }

 private:
  void read_changes() {
    alignas(inotify_event) std::array<char, 4096> buffer;
    const ssize_t got = ::read(queue_, buffer.data(), buffer.size());
    for (ssize_t at = 0; at < got; ++seen_) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
      at += static_cast<ssize_t>(sizeof *event + event->len);
    }
  }

  int queue_;
  int seen_ = 0;
};

// The output's name says the format.
class CommandKilled : public ::testing::TestWithParam<const char*> {
 protected:
  using Files = std::map<std::string, std::string>;

  CommandKilled() {
    for (uint64_t i = 0; i < 60; ++i) {
      const auto jpeg = make_jpeg(90, 120, i);
      write_file(photos() + "/c" + std::to_string(i % 3) + "/" + std::to_string(i) + ".jpg",
                 as_text(jpeg));
    }
    std::filesystem::create_directory(out());
    old_arguments_ = {"pack", photos(), out() + "/" + name(), "-q"};
    arguments_ = {"pack", photos(), out() + "/" + name(), "-q", "--resize", "64",
                  "-j",   "2",      "--overwrite"};
    EXPECT_EQ(run_command(old_arguments_).code, 0);
    old_ = contents();
    EXPECT_EQ(run_command(arguments_).code, 0);
    expected_ = contents();
    EXPECT_EQ(expected_.size(), name() == "x.rec" ? 3u : 2u);
    EXPECT_NE(expected_, old_);
  }

  std::string name() const { return GetParam(); }
  std::string photos() const { return directory_ / "photos"; }
  std::string out() const { return directory_ / "out"; }

  Files contents() const {
    Files files;
    for (const auto& entry : std::filesystem::directory_iterator(out())) {
      files[entry.path().filename()] = file_contents(entry.path());
    }
    return files;
  }

  void reset(const Files& files) const {
    std::filesystem::remove_all(out());
    std::filesystem::create_directory(out());
    for (const auto& [name, bytes] : files) write_file(out() + "/" + name, bytes);
  }

  // As readers do (pack/output/part.h): they are those of the new file, and of no other.
  void take_next_companions(Files& files) const {
    for (const char* companion : {"x.idx", "x.rec.frx", "x.ffr.frx"}) {
      auto next = files.extract(std::string(companion) + ".next");
      if (!next || files.at(name()) != expected_.at(name())) continue;
      files[companion] = next.mapped();
    }
  }

  // What must hold whenever the process was killed over `before`.
  void expect_nothing_looks_whole_that_is_not(const Files& before, const std::string& when) const {
    Files after = contents();
    std::erase_if(after, [](const auto& file) { return file.first.ends_with(".partial"); });
    take_next_companions(after);
    if (after.contains(name())) {
      EXPECT_TRUE(after == expected_ || (!before.empty() && after == before)) << when;
      return;
    }
    for (const auto& [file, bytes] : after) {  // companions, each whole
      const auto old = before.find(file);
      EXPECT_TRUE((expected_.contains(file) && bytes == expected_.at(file)) ||
                  (old != before.end() && bytes == old->second))
          << when << ": " << file;
    }
  }

  // The next run does not mind what was left behind.
  void expect_the_next_run_succeeds(const std::string& when) const {
    EXPECT_EQ(run_command(arguments_).code, 0) << when;
    EXPECT_EQ(contents(), expected_) << when;
  }

  void kill_at_every_change(const Files& before) const {
    bool killed = true;
    int k = 1;
    for (; killed; ++k) {
      const std::string when = "change " + std::to_string(k);
      reset(before);
      FolderWatch watch(out());
      Command command(arguments_);
      killed = watch.wait_for(k, command);
      command.send(SIGKILL);
      command.wait();
      expect_nothing_looks_whole_that_is_not(before, when);
      if (k % 4 == 1) expect_the_next_run_succeeds(when);
      ASSERT_LT(k, 1000);
    }
    EXPECT_GT(k, 3 * static_cast<int>(expected_.size()));
  }

  // At every `step`-th change, so many signals.
  void stop_at_changes(int signal, int signals, int step) const {
    int interrupted = 0;
    for (int k = 1; k < 1000; k += step) {
      reset(old_);
      FolderWatch watch(out());
      Command command(arguments_);
      const bool in_time = watch.wait_for(k, command);
      for (int i = 0; i < signals; ++i) command.deliver(signal);
      const CommandResult result = command.wait();
      if (result.signal == signal) {  // its work was done, and its signals the system's own again
        EXPECT_TRUE(contents() == expected_ || (signals > 1 && contents() == old_)) << k;
      } else if (result.code == 128 + signal) {
        ++interrupted;
        EXPECT_THAT(result.err, StartsWith("fuelrail: interrupted: unfinished files are removed"));
        EXPECT_EQ(contents(), old_) << k;
      } else {
        EXPECT_EQ(result.code, 0) << k << result.err;
        EXPECT_EQ(contents(), expected_) << k;
      }
      if (!in_time) break;
    }
    EXPECT_GT(interrupted, 0);
  }

  TemporaryDirectory directory_;
  std::vector<std::string> old_arguments_;
  std::vector<std::string> arguments_;
  Files old_;
  Files expected_;
};

TEST_P(CommandKilled, a_kill_at_any_change_leaves_nothing_that_looks_whole) {
  kill_at_every_change({});
}

TEST_P(CommandKilled, a_kill_at_any_change_leaves_the_old_output_or_none_or_the_new_one) {
  kill_at_every_change(old_);
}

TEST_P(CommandKilled, a_kill_at_any_time_leaves_nothing_that_looks_whole) {
  const auto begin = std::chrono::steady_clock::now();
  run_command(arguments_);
  const auto whole = std::chrono::steady_clock::now() - begin;
  constexpr int kMoments = 30;
  for (int i = 0; i < kMoments; ++i) {
    const std::string when = "moment " + std::to_string(i);
    reset(i % 2 == 0 ? Files{} : old_);
    Command command(arguments_);
    std::this_thread::sleep_for(whole * i / kMoments);
    command.send(SIGKILL);
    command.wait();
    expect_nothing_looks_whole_that_is_not(i % 2 == 0 ? Files{} : old_, when);
  }
  expect_the_next_run_succeeds("at the end");
}

TEST_P(CommandKilled, an_interrupt_at_any_change_leaves_all_or_what_was_there) {
  stop_at_changes(SIGINT, 1, 1);
}

// coreutils' timeout sends it to the command and to its group.
TEST_P(CommandKilled, two_terminations_at_any_change_leave_all_or_what_was_there) {
  stop_at_changes(SIGTERM, 2, 3);
}

TEST_P(CommandKilled, an_interrupt_with_resume_leaves_what_the_same_command_goes_on_with) {
  std::vector<std::string> arguments = arguments_;
  arguments.push_back("--resume");
  int interrupted = 0;
  for (int k = 1; k < 1000; k += 3) {
    reset({});
    FolderWatch watch(out());
    Command command(arguments);
    const bool in_time = watch.wait_for(k, command);
    command.send(SIGINT);
    const CommandResult result = command.wait();
    if (result.code == 130) {
      ++interrupted;
      EXPECT_THAT(result.err, StartsWith("fuelrail: interrupted: the written data is kept"));
      EXPECT_EQ(run_command(arguments).code, 0) << k;
    }
    EXPECT_EQ(contents(), expected_) << k;
    if (!in_time) break;
  }
  EXPECT_GT(interrupted, 0);
}

TEST_P(CommandKilled, an_interrupt_that_is_ignored_stays_ignored) {
  reset({});
  FolderWatch watch(out());
  Command command(arguments_, [] { ::signal(SIGINT, SIG_IGN); });
  watch.wait_for(1, command);
  command.send(SIGINT);
  EXPECT_EQ(command.wait().code, 0);
  EXPECT_EQ(contents(), expected_);
}

INSTANTIATE_TEST_SUITE_P(Formats, CommandKilled, ::testing::Values("x.rec", "x.ffr"));

// Packs a list of 40 photographs, with --resume.
class Im2recKilled : public PhotographFolder {
 protected:
  using Files = std::map<std::string, std::string>;

  Im2recKilled() {
    for (uint64_t i = 0; i < 40; ++i) put_photograph(std::to_string(i) + ".jpg", 90, 120, i);
    EXPECT_EQ(run_command({"im2rec", out("x"), photos(), "--list"}).code, 0);
  }

  std::vector<std::string> command(const std::vector<std::string>& more) const {
    std::vector<std::string> words{"im2rec", out("x"), photos(),  "--num-thread",
                                   "2",      "-q",     "--resume"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  void reset() const {
    for (const std::string& name : names_in(out())) {
      if (name != "x.lst") std::filesystem::remove(out(name));
    }
  }

  // Every `step`-th change is the one at which a run is ended; the next run goes on.
  void end_at_changes(int signal, int step, const std::vector<std::string>& more) const {
    ASSERT_EQ(run_command(command(more)).code, 0);
    const Files expected = outputs();
    int ended = 0;
    for (int k = 1; k < 1000; k += step) {
      reset();
      FolderWatch watch(out());
      Command first(command(more));
      const bool in_time = watch.wait_for(k, first);
      first.send(signal);
      const CommandResult result = first.wait();
      ended += result.signal == SIGKILL || result.code == 128 + signal ? 1 : 0;
      const CommandResult next = run_command(command(more));
      EXPECT_EQ(next.code, 0) << k << next.err;
      EXPECT_TRUE(outputs() == expected) << k;
      if (!in_time) break;
    }
    EXPECT_GT(ended, 0);
  }
};

// PNGs take long enough for the journal to be written meanwhile.
TEST_F(Im2recKilled, the_same_command_goes_on_after_a_kill_at_any_change) {
  end_at_changes(SIGKILL, 6, {"--resize", "120", "--encoding", ".png"});
}

TEST_F(Im2recKilled, the_same_command_goes_on_with_its_parts) {
  end_at_changes(SIGKILL, 11, {"--resize", "64", "--nsplit", "3"});
}

TEST_F(Im2recKilled, the_same_command_goes_on_after_an_interrupt) {
  end_at_changes(SIGINT, 4, {"--resize", "64"});
}

}  // namespace
}  // namespace fuelrail
