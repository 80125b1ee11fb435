#include "fuelrail/engine/read_depth.h"

#include <gtest/gtest.h>

namespace fuelrail {
namespace {

// Rounds of as many records as the depth. Returns: the depth after them.
size_t after_rounds(ReadDepth& depth, size_t rounds, bool starving) {
  for (size_t i = 0; i < rounds; ++i) depth.arrived(depth.reads(), starving);
  return depth.reads();
}

// A depth that has begun and whose workers are busy.
ReadDepth busy(size_t least, size_t most) {
  ReadDepth depth(least, most);
  depth.processed();
  return depth;
}

TEST(ReadDepth, begins_at_the_least_and_plans_no_further_than_the_prefetched_batches) {
  const ReadDepth depth(4, 256);
  EXPECT_EQ(depth.reads(), 4u);
  EXPECT_EQ(depth.ahead(), 0u);
}

TEST(ReadDepth, doubles_once_a_round_of_starving_up_to_the_most) {
  ReadDepth depth = busy(4, 256);
  EXPECT_TRUE(depth.arrived(4, true));
  EXPECT_EQ(depth.reads(), 8u);
  EXPECT_EQ(depth.ahead(), 16u);
  EXPECT_FALSE(depth.arrived(7, true));  // of 8
  EXPECT_TRUE(depth.arrived(1, false));
  EXPECT_EQ(depth.reads(), 16u);
  EXPECT_EQ(after_rounds(depth, 20, true), 256u);
}

TEST(ReadDepth, records_that_come_before_one_was_done_say_nothing_each_time_an_order_begins) {
  ReadDepth depth(4, 256);
  EXPECT_EQ(after_rounds(depth, 10, true), 4u);
  depth.processed();
  EXPECT_EQ(after_rounds(depth, 2, true), 16u);
  depth.begin();
  EXPECT_EQ(after_rounds(depth, 10, true), 16u);  // and it is kept
  depth.processed();
  EXPECT_EQ(after_rounds(depth, 1, true), 32u);
}

TEST(ReadDepth, shrinks_to_the_least_when_nothing_starves_any_more) {
  ReadDepth depth = busy(4, 256);
  after_rounds(depth, 4, true);
  EXPECT_EQ(depth.reads(), 64u);
  EXPECT_EQ(after_rounds(depth, 16, false), 56u);
  EXPECT_EQ(after_rounds(depth, 16 * 40, false), 4u);
}

TEST(ReadDepth, shrinks_more_rarely_after_a_shrinking_that_was_wrong) {
  ReadDepth depth = busy(4, 256);
  after_rounds(depth, 3, true);                    // 32
  EXPECT_EQ(after_rounds(depth, 16, false), 28u);  // too few
  EXPECT_EQ(after_rounds(depth, 1, true), 56u);
  EXPECT_EQ(after_rounds(depth, 31, false), 56u);
  EXPECT_EQ(after_rounds(depth, 1, false), 49u);
}

TEST(ReadDepth, reads_one_after_the_other_stay_so) {
  ReadDepth depth = busy(0, 256);
  EXPECT_FALSE(depth.arrived(5, true));
  EXPECT_EQ(depth.reads(), 0u);
  EXPECT_EQ(depth.ahead(), 0u);
}

TEST(ReadDepth, a_least_above_the_most_is_kept) {
  ReadDepth depth = busy(1000, 256);
  EXPECT_FALSE(depth.arrived(1000, true));
  EXPECT_EQ(depth.reads(), 1000u);
}

}  // namespace
}  // namespace fuelrail
