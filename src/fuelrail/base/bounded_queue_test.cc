#include "fuelrail/base/bounded_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

namespace fuelrail {
namespace {

TEST(BoundedQueue, gives_items_in_order) {
  BoundedQueue<int> queue(3);
  EXPECT_TRUE(queue.push(1));
  EXPECT_TRUE(queue.push(2));
  EXPECT_EQ(queue.size(), 2u);
  EXPECT_EQ(queue.pop(), 1);
  EXPECT_EQ(queue.pop(), 2);
  EXPECT_EQ(queue.size(), 0u);
}

TEST(BoundedQueue, moves_items_that_cannot_be_copied) {
  BoundedQueue<std::unique_ptr<int>> queue(1);
  EXPECT_TRUE(queue.push(std::make_unique<int>(5)));
  EXPECT_EQ(**queue.pop(), 5);
}

TEST(BoundedQueue, closed_drains_and_takes_nothing_more) {
  BoundedQueue<int> queue(3);
  queue.push(1);
  queue.push(2);
  queue.close();
  queue.close();
  EXPECT_FALSE(queue.push(3));
  EXPECT_EQ(queue.pop(), 1);
  EXPECT_EQ(queue.pop(), 2);
  EXPECT_EQ(queue.pop(), std::nullopt);
  EXPECT_EQ(queue.pop(), std::nullopt);
}

TEST(BoundedQueue, never_holds_more_than_its_capacity) {
  BoundedQueue<int> queue(2);
  std::jthread producer([&queue] {
    for (int i = 0; i < 5000; ++i) queue.push(i);
    queue.close();
  });
  size_t most = 0;
  int next = 0;
  while (const std::optional<int> item = queue.pop()) {
    EXPECT_EQ(*item, next++);
    most = std::max(most, queue.size());
  }
  EXPECT_EQ(next, 5000);
  EXPECT_LE(most, 2u);
}

TEST(BoundedQueue, loses_and_repeats_nothing_between_many_threads) {
  constexpr int kProducers = 4;
  constexpr int kConsumers = 3;
  constexpr int kEach = 2000;
  BoundedQueue<int> queue(5);
  std::vector<std::vector<int>> taken(kConsumers);
  {
    std::vector<std::jthread> consumers;
    for (std::vector<int>& mine : taken) {
      consumers.emplace_back([&queue, &mine] {
        while (const std::optional<int> item = queue.pop()) mine.push_back(*item);
      });
    }
    {
      std::vector<std::jthread> producers;
      for (int p = 0; p < kProducers; ++p) {
        producers.emplace_back([&queue, p] {
          for (int i = 0; i < kEach; ++i) EXPECT_TRUE(queue.push(p * kEach + i));
        });
      }
    }
    queue.close();
  }
  std::vector<int> all;
  for (const std::vector<int>& mine : taken) {
    // What one producer pushed reaches any one consumer in the order pushed.
    std::vector<int> last(kProducers, -1);
    for (const int item : mine) {
      EXPECT_GT(item, last[static_cast<size_t>(item / kEach)]);
      last[static_cast<size_t>(item / kEach)] = item;
    }
    all.insert(all.end(), mine.begin(), mine.end());
  }
  std::sort(all.begin(), all.end());
  ASSERT_EQ(all.size(), size_t{kProducers * kEach});
  for (int i = 0; i < kProducers * kEach; ++i) EXPECT_EQ(all[static_cast<size_t>(i)], i);
}

TEST(BoundedQueue, close_wakes_waiting_consumers) {
  BoundedQueue<int> queue(1);
  std::vector<std::jthread> consumers;
  for (int i = 0; i < 3; ++i) {
    consumers.emplace_back([&queue] { EXPECT_EQ(queue.pop(), std::nullopt); });
  }
  queue.close();
}

TEST(BoundedQueue, close_wakes_waiting_producers) {
  BoundedQueue<int> queue(1);
  queue.push(0);
  std::vector<std::jthread> producers;
  for (int i = 0; i < 3; ++i) {
    producers.emplace_back([&queue] { EXPECT_FALSE(queue.push(1)); });
  }
  queue.close();
}

TEST(BoundedQueue, clear_drops_items_and_makes_room) {
  BoundedQueue<std::shared_ptr<int>> queue(1);
  const auto item = std::make_shared<int>(1);
  queue.push(item);
  std::jthread producer([&queue, &item] { EXPECT_TRUE(queue.push(item)); });
  queue.clear();
  producer.join();
  queue.clear();
  EXPECT_EQ(queue.size(), 0u);
  EXPECT_EQ(item.use_count(), 1);
}

}  // namespace
}  // namespace fuelrail
