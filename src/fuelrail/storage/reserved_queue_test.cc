#include "fuelrail/storage/reserved_queue.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <random>

namespace fuelrail {
namespace {

TEST(ReservedQueue, gives_what_was_pushed_in_that_order_and_nothing_twice) {
  ReservedQueue<int> queue;
  std::deque<int> expected;
  std::mt19937 random(7);
  for (int i = 0; i < 20'000; ++i) {
    if (expected.empty() || random() % 2 == 0) {
      queue.reserve(expected.size() + 1);
      queue.push(i);
      expected.push_back(i);
    } else {
      ASSERT_EQ(queue.pop(), expected.front());
      expected.pop_front();
    }
    ASSERT_EQ(queue.size(), expected.size());
    ASSERT_EQ(queue.empty(), expected.empty());
  }
}

}  // namespace
}  // namespace fuelrail
