#include "fuelrail/engine/stats.h"

#include <gtest/gtest.h>

#include <string>

#include "fuelrail/engine/stage_clock.h"

namespace fuelrail {
namespace {

StageStats stage(double busy, double waiting) {
  return {.busy_seconds = busy, .waiting_seconds = waiting, .items = 1};
}

TEST(Stats, limit_is_the_stage_that_is_busy_for_the_largest_share) {
  EXPECT_EQ(limiting_stage(stage(9, 1), stage(2, 16), stage(1, 9)), "fetch");
  EXPECT_EQ(limiting_stage(stage(1, 9), stage(19, 1), stage(2, 8)), "process");
  EXPECT_EQ(limiting_stage(stage(1, 9), stage(10, 10), stage(9, 1)), "consumer");
}

TEST(Stats, limit_is_unknown_before_the_first_batch) {
  EXPECT_EQ(limiting_stage(stage(9, 1), stage(1, 1), {}), "");
}

TEST(Stats, busy_share_is_of_the_stages_own_time) {
  EXPECT_EQ(busy_share(stage(3, 1)), 0.75);
  EXPECT_EQ(busy_share({}), 0);
}

TEST(Stats, table_has_a_line_a_stage_and_one_on_the_whole) {
  Stats stats{.seconds = 10,
              .fetch = {1, 9, 8000, 881'200'000, 12.25},
              .process = {19.1, 0.9, 8000, 4'816'896'000, 34},
              .consumer = {0.1, 9.9, 32, 0, 1.94},
              .counts{.tolerated = 3},
              .slots_lent = 1,
              .read_backend = "io_uring",
              .limit = "process"};
  EXPECT_EQ(to_table(stats),
            "stage      busy, s  waits, s busy %      items         MB   queue\n"
            "fetch         1.00      9.00     10       8000      881.2    12.2\n"
            "process      19.10      0.90     96       8000     4816.9    34.0\n"
            "consumer      0.10      9.90      1         32        0.0     1.9\n"
            "10.00 s, limited by process, reads by io_uring, 1 batch held by the user, 3 oddities "
            "tolerated");
}

TEST(Stats, table_of_nothing_says_that_there_is_no_batch_yet) {
  const std::string table = to_table({});
  EXPECT_EQ(table.substr(table.rfind('\n') + 1),
            "0.00 s, no batch yet, 0 batches held by the user");
}

TEST(StageClock, means_and_sums_are_of_what_was_taken) {
  StageClock clock;
  clock.took(4, 10);
  clock.took(2, 20);
  clock.moved(100);
  clock.moved(1);
  const StageStats stats = clock.stats();
  EXPECT_EQ(stats.items, 6u);
  EXPECT_EQ(stats.bytes, 101u);
  EXPECT_EQ(stats.mean_queue_depth, 15);
}

TEST(StageClock, time_goes_to_what_threads_do) {
  StageClock clock;
  EXPECT_EQ(clock.stats().busy_seconds, 0);
  clock.enter();
  clock.enter();
  clock.begin_waiting();
  StageStats stats = clock.stats();
  while (stats.waiting_seconds == 0) stats = clock.stats();
  EXPECT_GT(stats.busy_seconds, 0);  // the other thread, the whole time
  clock.end_waiting();
  clock.leave();
  clock.leave();
  const double busy = clock.stats().busy_seconds;
  EXPECT_EQ(clock.stats().busy_seconds, busy);
}

}  // namespace
}  // namespace fuelrail
