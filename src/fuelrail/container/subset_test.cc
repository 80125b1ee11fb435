#include "fuelrail/container/subset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/memory_container.h"

namespace fuelrail {
namespace {

using ::testing::ElementsAre;

std::shared_ptr<const Container> numbers(uint64_t records) {
  std::vector<MemoryContainer::Record> made;
  for (uint64_t i = 0; i < records; ++i) made.push_back({{"", scalar_bytes(i)}, i});
  return std::make_shared<MemoryContainer>("numbers", image_and_label(), made);
}

std::vector<uint64_t> ids(const Container& container) {
  std::vector<uint64_t> found;
  Sample sample;
  std::vector<std::byte> framed;
  for (uint64_t i = 0; i < container.size(); ++i) {
    read_sample(container, i, framed, sample);
    found.push_back(sample.id);
  }
  return found;
}

TEST(Subset, holds_the_chosen_records_also_repeated) {
  EXPECT_THAT(ids(*subset(numbers(5), {4, 0, 4})), ElementsAre(4, 0, 4));
  EXPECT_EQ(subset(numbers(5), {})->size(), 0u);
  EXPECT_THAT(ids(*subset(subset(numbers(5), {4, 0, 3}), {2, 1})), ElementsAre(3, 0));
}

TEST(Subset, an_index_past_the_end_is_out_of_range) {
  EXPECT_THROW(subset(numbers(5), {0, 5}), OutOfRangeError);
}

TEST(Slice, steps_forwards_and_backwards) {
  EXPECT_THAT(ids(*slice(numbers(7), 1, 3, 2)), ElementsAre(1, 3, 5));
  EXPECT_THAT(ids(*slice(numbers(7), 6, 3, -3)), ElementsAre(6, 3, 0));
  EXPECT_THAT(ids(*slice(numbers(7), 6, 1, 100)), ElementsAre(6));
  EXPECT_EQ(slice(numbers(7), 7, 0, 1)->size(), 0u);
}

TEST(Slice, what_leaves_the_parent_is_refused) {
  constexpr auto kMost = std::numeric_limits<uint64_t>::max();
  EXPECT_THROW(slice(numbers(7), 0, 1, 0), InvalidArgumentError);
  EXPECT_THROW(slice(numbers(7), 7, 1, 1), OutOfRangeError);
  EXPECT_THROW(slice(numbers(7), 0, 8, 1), OutOfRangeError);
  EXPECT_THROW(slice(numbers(7), 2, 4, -1), OutOfRangeError);
  EXPECT_THROW(slice(numbers(7), 0, kMost, 3), OutOfRangeError);
  EXPECT_THROW(slice(numbers(7), 3, 3, std::numeric_limits<int64_t>::min()), OutOfRangeError);
}

TEST(SplitIndices, parts_are_disjoint_sorted_and_of_the_sizes_asked_for) {
  for (const uint64_t records : {0u, 1u, 9u, 10u, 1'001u}) {
    const auto parts = split_indices(records, {{"train", .9}, {"val", .1}}, 1);
    ASSERT_EQ(parts.size(), 2u);
    EXPECT_EQ(parts[0].first, "train");
    EXPECT_EQ(parts[0].second.size(),
              static_cast<uint64_t>(std::llround(.9 * static_cast<double>(records))));
    std::set<uint64_t> seen;
    for (const auto& [name, indices] : parts) {
      EXPECT_TRUE(std::is_sorted(indices.begin(), indices.end()));
      seen.insert(indices.begin(), indices.end());
    }
    EXPECT_EQ(seen.size(), records);
    EXPECT_TRUE(records == 0 || *seen.rbegin() == records - 1);
  }
}

TEST(SplitIndices, fractions_need_not_cover_everything) {
  const auto parts = split_indices(100, {{"a", .1}, {"b", .2}}, 1);
  EXPECT_EQ(parts[0].second.size(), 10u);
  EXPECT_EQ(parts[1].second.size(), 20u);
}

TEST(SplitIndices, the_seed_alone_decides) {
  const auto split = [](uint64_t seed) { return split_indices(1'000, {{"a", .5}}, seed); };
  EXPECT_EQ(split(1), split(1));
  EXPECT_NE(split(1), split(2));
}

TEST(SplitIndices, a_longer_tail_of_parts_leaves_the_first_as_it_was) {
  EXPECT_EQ(split_indices(1'000, {{"a", .5}}, 7)[0],
            split_indices(1'000, {{"a", .5}, {"b", .25}}, 7)[0]);
}

TEST(SplitIndices, bad_fractions_and_names_are_refused) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double fraction : {0.0, -0.1, 1.1, nan}) {
    EXPECT_THROW(split_indices(10, {{"a", fraction}}, 0), InvalidArgumentError) << fraction;
  }
  EXPECT_THROW(split_indices(10, {{"a", .6}, {"b", .5}}, 0), InvalidArgumentError);
  EXPECT_THROW(split_indices(10, {{"a", .1}, {"a", .5}}, 0), InvalidArgumentError);
  EXPECT_THROW(split_indices(10, {{"", .1}}, 0), InvalidArgumentError);
  EXPECT_NO_THROW(split_indices(10, {{"a", .1}, {"b", .2}, {"c", .7}}, 0));
}

}  // namespace
}  // namespace fuelrail
