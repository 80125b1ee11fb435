#include "fuelrail/base/reorder.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace fuelrail {
namespace {

using namespace std::chrono_literals;

TEST(Reorder, items_come_out_in_order_whatever_order_they_came_in) {
  Reorder<int> reorder(1000);
  for (int index : {3, 0, 2, 1}) {
    ASSERT_TRUE(reorder.put(static_cast<uint64_t>(index), 10 * index, 1));
  }
  for (int index = 0; index < 4; ++index) EXPECT_EQ(reorder.take(0ms), 10 * index);
}

TEST(Reorder, a_missing_next_item_is_not_overtaken) {
  Reorder<int> reorder(1000);
  ASSERT_TRUE(reorder.put(1, 11, 1));
  EXPECT_EQ(reorder.take(0ms), std::nullopt);
  ASSERT_TRUE(reorder.put(0, 10, 1));
  EXPECT_EQ(reorder.take(0ms), 10);
  EXPECT_EQ(reorder.take(0ms), 11);
}

TEST(Reorder, the_next_item_enters_even_when_it_is_larger_than_the_capacity) {
  Reorder<int> reorder(10);
  ASSERT_TRUE(reorder.put(1, 11, 10));
  ASSERT_TRUE(reorder.put(0, 10, 500));
  EXPECT_EQ(reorder.waiting_bytes(), 510u);
  EXPECT_EQ(reorder.take(0ms), 10);
  EXPECT_EQ(reorder.waiting_bytes(), 10u);
}

TEST(Reorder, closing_wakes_a_producer_that_waits_for_room) {
  Reorder<int> reorder(10);
  ASSERT_TRUE(reorder.put(1, 11, 10));
  bool accepted = true;
  std::jthread producer([&] { accepted = reorder.put(2, 12, 10); });
  reorder.close();
  producer.join();
  EXPECT_FALSE(accepted);
  EXPECT_FALSE(reorder.put(0, 10, 1));
}

TEST(Reorder, failure_ends_producers_and_the_consumer) {
  Reorder<int> reorder(10);
  ASSERT_TRUE(reorder.put(1, 11, 10));
  reorder.fail(std::make_exception_ptr(std::runtime_error("no memory")));
  EXPECT_FALSE(reorder.put(0, 10, 1));
  EXPECT_THROW(reorder.take(0ms), std::runtime_error);
}

TEST(Reorder, items_may_be_moved_only) {
  Reorder<std::unique_ptr<int>> reorder(10);
  ASSERT_TRUE(reorder.put(0, std::make_unique<int>(7), 1));
  EXPECT_EQ(**reorder.take(0ms), 7);
}

TEST(Reorder, many_producers_give_one_order_within_the_capacity) {
  constexpr uint64_t kItems = 5000;
  constexpr uint64_t kCapacity = 64;
  constexpr uint64_t kLargest = 16;
  Reorder<uint64_t> reorder(kCapacity);
  std::atomic<uint64_t> claimed{0};
  std::vector<std::jthread> producers;
  for (int t = 0; t < 4; ++t) {
    producers.emplace_back([&] {
      for (uint64_t i; (i = claimed.fetch_add(1)) < kItems;) {
        if (!reorder.put(i, i, 1 + i * 2654435761u % kLargest)) return;
      }
    });
  }
  for (uint64_t i = 0; i < kItems; ++i) {
    std::optional<uint64_t> item;
    while (!item) item = reorder.take(100ms);
    ASSERT_EQ(*item, i);
    EXPECT_LE(reorder.waiting_bytes(), kCapacity + kLargest);
  }
}

}  // namespace
}  // namespace fuelrail
