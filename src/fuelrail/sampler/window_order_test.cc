#include "fuelrail/sampler/window_order.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace fuelrail {
namespace {

std::vector<uint64_t> order_of(uint64_t records, uint64_t block, uint64_t blocks, uint64_t seed = 1,
                               uint32_t epoch = 0) {
  const WindowOrder order(records, block, blocks, seed, epoch);
  std::vector<uint64_t> result(records);
  for (uint64_t i = 0; i < records; ++i) result[i] = order(i);
  return result;
}

void expect_each_record_once(uint64_t records, uint64_t block, uint64_t blocks, uint64_t seed) {
  std::vector<bool> seen(records);
  for (const uint64_t record : order_of(records, block, blocks, seed, 3)) {
    ASSERT_LT(record, records) << records << " records, " << block << " x " << blocks;
    ASSERT_FALSE(seen[record]) << records << " records, " << block << " x " << blocks;
    seen[record] = true;
  }
}

// The blocks of the records at positions [begin, end) of an order.
std::set<uint64_t> blocks_at(const std::vector<uint64_t>& order, uint64_t begin, uint64_t end,
                             uint64_t block) {
  std::set<uint64_t> blocks;
  for (uint64_t i = begin; i < end; ++i) blocks.insert(order[i] / block);
  return blocks;
}

TEST(WindowOrder, every_number_of_records_comes_once_each) {
  std::mt19937_64 random(5);
  for (uint64_t records = 1; records <= 2000; ++records) {
    const uint64_t block = 1 + random() % records;
    expect_each_record_once(records, block, 1 + random() % (records / block + 2), records);
    if (records > 500) continue;
    expect_each_record_once(records, 1 + random() % 40, 1 + random() % 9, records);
  }
}

TEST(WindowOrder, every_small_block_and_window_gives_each_record_once) {
  for (uint64_t records = 1; records <= 40; ++records) {
    for (uint64_t block = 1; block <= records + 1; ++block) {
      for (uint64_t blocks = 1; blocks <= records / block + 2; ++blocks) {
        expect_each_record_once(records, block, blocks, records * 100 + block);
      }
    }
  }
}

// Windows follow one another. Each holds all records of `blocks` blocks (the short one counts as a
// block); the last one holds all records of the remaining blocks.
TEST(WindowOrder, records_of_a_window_are_those_of_its_blocks) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 400; ++round) {
    const uint64_t records = 1 + random() % 700;
    const uint64_t block = 1 + random() % 30;
    const uint64_t blocks = 1 + random() % 8;
    const std::vector<uint64_t> order = order_of(records, block, blocks, random());
    const uint64_t in_all = (records + block - 1) / block;
    uint64_t begin = 0;
    for (uint64_t left = in_all; left > 0;) {
      // The window's size follows from its blocks: those of its first records.
      const uint64_t size = std::min(blocks, left);
      uint64_t end = std::min(begin + size * block, records);
      const uint64_t last = in_all - 1;
      const uint64_t lacks = in_all * block - records;
      if (lacks > 0 && blocks_at(order, begin, end, block).contains(last)) {
        end = std::min(end, begin + size * block - lacks);
      }
      const std::set<uint64_t> mine = blocks_at(order, begin, end, block);
      EXPECT_EQ(mine.size(), size)
          << fmt::format("{} records, {} x {}, window from {}", records, block, blocks, begin);
      uint64_t held = 0;
      for (const uint64_t b : mine) held += std::min(block, records - b * block);
      EXPECT_EQ(held, end - begin);
      begin = end;
      left -= size;
    }
    EXPECT_EQ(begin, records);
  }
}

TEST(WindowOrder, short_block_falls_into_every_window) {
  std::set<uint64_t> places;
  for (uint32_t epoch = 0; epoch < 200; ++epoch) {
    const std::vector<uint64_t> order = order_of(10, 3, 1, 4, epoch);
    places.insert(static_cast<uint64_t>(std::find(order.begin(), order.end(), 9) - order.begin()));
  }
  EXPECT_EQ(places, (std::set<uint64_t>{0, 3, 6, 9}));
}

TEST(WindowOrder, seeds_and_epochs_differ_and_windows_are_mixed_differently) {
  const std::vector<uint64_t> order = order_of(1000, 10, 4);
  EXPECT_NE(order, order_of(1000, 10, 4, 2));
  EXPECT_NE(order, order_of(1000, 10, 4, 1, 1));
  EXPECT_EQ(order, order_of(1000, 10, 4));
  // The block with which a window begins, and the place within that block.
  std::set<uint64_t> first;
  for (uint64_t window = 0; window < 25; ++window) first.insert(order[window * 40] % 10);
  EXPECT_GE(first.size(), 6u);
}

// A window of four blocks of one record each has each of its 24 orders equally often: chi-square
// with 23 degrees of freedom exceeds 49.7 for one seed in a thousand.
TEST(WindowOrder, orders_of_a_window_are_equally_likely) {
  constexpr int kRounds = 24'000;
  std::vector<std::vector<uint64_t>> seen;
  for (int round = 0; round < kRounds; ++round) {
    seen.push_back(order_of(4, 2, 2, 9, static_cast<uint32_t>(round)));
  }
  std::sort(seen.begin(), seen.end());
  double chi_square = 0;
  size_t orders = 0;
  for (auto at = seen.begin(); at != seen.end(); ++orders) {
    const auto end = std::upper_bound(at, seen.end(), *at);
    const double difference = static_cast<double>(end - at) - kRounds / 24.0;
    chi_square += difference * difference / (kRounds / 24.0);
    at = end;
  }
  EXPECT_EQ(orders, 24u);
  EXPECT_LT(chi_square, 49.7);
}

TEST(WindowOrder, any_position_of_the_most_records_is_reached_at_once) {
  constexpr uint64_t kMost = uint64_t{1} << 62;
  for (const uint64_t block : {uint64_t{1}, uint64_t{1000}, kMost, ~uint64_t{0}}) {
    for (const uint64_t blocks : {uint64_t{1}, uint64_t{77}, kMost, ~uint64_t{0}}) {
      const WindowOrder order(kMost - 1, block, blocks, 1, 2);
      for (const uint64_t position : {uint64_t{0}, kMost / 3, kMost - 2}) {
        EXPECT_LT(order(position), kMost - 1);
      }
    }
  }
}

// Frozen: changing these numbers changes every window-shuffled epoch of every user.
TEST(WindowOrder, golden_values) {
  EXPECT_EQ(order_of(14, 3, 2, 42, 1),
            (std::vector<uint64_t>{13, 9, 10, 12, 11, 0, 1, 3, 4, 5, 2, 6, 7, 8}));
  const WindowOrder far(uint64_t{1} << 33, 256, 64, 42, 7);
  EXPECT_EQ((std::vector<uint64_t>{far(0), far(1), far(123456789012 % (uint64_t{1} << 33))}),
            (std::vector<uint64_t>{8105498762, 1800907284, 7844726320}));
}

}  // namespace
}  // namespace fuelrail
