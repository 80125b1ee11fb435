#include "fuelrail/cli/signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <vector>

namespace fuelrail::cli {
namespace {

constexpr int kGoesOn = 1;  // no command's exit code here

// Receives these signals one after the other, as a command would, and exits with kGoesOn if it
// survives.
[[noreturn]] void get(const std::vector<int>& signals, int noted) {
  const SignalScope scope;
  for (const int signal : signals) ::raise(signal);
  ::_exit(interrupted() && interrupted_exit_code() == noted ? kGoesOn : 99);
}

TEST(Signals, one_is_noted) {
  EXPECT_EXIT(get({SIGINT}, 130), ::testing::ExitedWithCode(kGoesOn), "");
  EXPECT_EXIT(get({SIGTERM}, 143), ::testing::ExitedWithCode(kGoesOn), "");
}

TEST(Signals, ctrl_c_as_a_second_one_ends_the_process) {
  EXPECT_EXIT(get({SIGINT, SIGINT}, 130), ::testing::ExitedWithCode(130), "");
  EXPECT_EXIT(get({SIGTERM, SIGINT}, 143), ::testing::ExitedWithCode(130), "");
  EXPECT_EXIT(get({SIGTERM, SIGTERM, SIGINT}, 143), ::testing::ExitedWithCode(130), "");
}

// coreutils' timeout sends SIGTERM to the command and to its group.
TEST(Signals, a_second_termination_is_the_first_one) {
  EXPECT_EXIT(get({SIGTERM, SIGTERM}, 143), ::testing::ExitedWithCode(kGoesOn), "");
  EXPECT_EXIT(get({SIGINT, SIGTERM}, 130), ::testing::ExitedWithCode(kGoesOn), "");
}

}  // namespace
}  // namespace fuelrail::cli
