#include "fuelrail/sampler/feed.h"

#include <gtest/gtest.h>

#include <thread>

#include "fuelrail/base/error.h"

namespace fuelrail {
namespace {

TEST(Feed, gives_what_was_pushed_in_order) {
  Feed feed;
  feed.push({{1, 2}, false});
  feed.push({{3}, true});
  feed.end();
  EXPECT_EQ(feed.pop()->records, (std::vector<uint64_t>{1, 2}));
  const std::optional<FedBatch> last = feed.pop();
  EXPECT_EQ(last->records, (std::vector<uint64_t>{3}));
  EXPECT_TRUE(last->ends_epoch);
  EXPECT_FALSE(feed.pop());
  EXPECT_FALSE(feed.pop());
}

TEST(Feed, pop_waits_for_what_is_pushed_in_another_thread) {
  Feed feed;
  std::vector<uint64_t> seen;
  std::thread taker([&] {
    while (const auto batch = feed.pop()) seen.push_back(batch->records.at(0));
  });
  for (uint64_t i = 0; i < 1000; ++i) feed.push({{i}, false});
  feed.end();
  taker.join();
  ASSERT_EQ(seen.size(), 1000u);
  for (uint64_t i = 0; i < 1000; ++i) EXPECT_EQ(seen[i], i);
}

TEST(Feed, close_ends_a_pop_that_waits_and_drops_what_is_left) {
  Feed feed;
  std::thread taker([&] { EXPECT_THROW(feed.pop(), StateError); });
  feed.close();
  taker.join();
  feed.push({{1}, false});
  feed.close();
  EXPECT_THROW(feed.pop(), StateError);
}

}  // namespace
}  // namespace fuelrail
