#include "fuelrail/engine/stats.h"

#include <gtest/gtest.h>

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
  EXPECT_GT(stats.busy_seconds, 0);  // the other thread, all the while
  clock.end_waiting();
  clock.leave();
  clock.leave();
  const double busy = clock.stats().busy_seconds;
  EXPECT_EQ(clock.stats().busy_seconds, busy);
}

}  // namespace
}  // namespace fuelrail
