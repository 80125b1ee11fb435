#include "fuelrail/sampler/fed_sampler.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/sampler_conformance.h"

namespace fuelrail {
namespace {

// Returns the batches one after the other, then the end.
auto feed_of(std::vector<FedBatch> batches) {
  return [batches = std::move(batches), at = size_t{0}]() mutable -> std::optional<FedBatch> {
    if (at == batches.size()) return std::nullopt;
    return batches[at++];
  };
}

// `epochs` epochs of 11 records in batches of 4 (the last has 3), continuing from `start`.
std::unique_ptr<Sampler> make_fed(Progress start, uint32_t epochs) {
  constexpr uint64_t kRecords = 11;
  const auto feed = [at = start, epochs]() mutable -> std::optional<FedBatch> {
    if (at.epoch >= epochs) return std::nullopt;
    FedBatch batch;
    for (; batch.records.size() < 4 && at.position < kRecords; ++at.position) {
      batch.records.push_back((at.position * 7 + at.epoch) % kRecords);
    }
    batch.ends_epoch = at.position == kRecords;
    if (batch.ends_epoch) at = {at.epoch + 1, 0};
    return batch;
  };
  return std::make_unique<FedSampler>(kRecords, feed, start);
}

struct FedSamplers {
  static std::vector<SamplerCase> cases() {
    return {{"endless", 11, [](Progress start) { return make_fed(start, 1u << 31); }},
            {"three epochs", 11, [](Progress start) { return make_fed(start, 3); }},
            {"nothing", 11, [](Progress start) { return make_fed(start, 0); }}};
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(FedSampler, SamplerConformance, FedSamplers);

TEST(FedSampler, gives_what_it_is_fed_and_counts_positions) {
  FedSampler sampler(10, feed_of({{{3, 3, 9}}, {{0}, true}, {{5}, true}}), {2, 0});
  const BatchPlan first = sampler.next().value();
  ASSERT_EQ(first.entries.size(), 3u);
  EXPECT_EQ(first.entries[1].record, 3u);
  EXPECT_EQ(first.entries[1].position, 1u);
  EXPECT_EQ(first.entries[1].epoch, 2u);
  EXPECT_TRUE(first.entries[1].valid);
  EXPECT_FALSE(first.ends_epoch);
  EXPECT_EQ(first.after, (Progress{2, 3}));

  const BatchPlan second = sampler.next().value();
  EXPECT_EQ(second.entries[0].position, 3u);
  EXPECT_TRUE(second.ends_epoch);
  EXPECT_EQ(second.after, (Progress{3, 0}));

  const BatchPlan third = sampler.next().value();
  EXPECT_EQ(third.entries[0].record, 5u);
  EXPECT_EQ(third.entries[0].position, 0u);
  EXPECT_EQ(third.entries[0].epoch, 3u);
  EXPECT_TRUE(third.ends_epoch);
  EXPECT_FALSE(sampler.next().has_value());
}

TEST(FedSampler, ranks_count_positions_that_no_other_rank_has) {
  std::set<uint64_t> positions;
  for (uint32_t rank = 0; rank < 3; ++rank) {
    FedSampler sampler(10, feed_of({{{1, 2}}, {{3}, true}}), {2, 0}, FedSampler::Position::kCounted,
                       {rank, 3});
    for (const size_t rows : {2u, 1u}) {
      const BatchPlan plan = sampler.next().value();
      ASSERT_EQ(plan.entries.size(), rows);
      for (const Entry& entry : plan.entries) {
        EXPECT_EQ(entry.position % 3, rank);
        positions.insert(entry.position);
      }
      EXPECT_EQ(plan.after, rows == 2 ? (Progress{2, 2}) : (Progress{3, 0})) << "its own count";
    }
  }
  EXPECT_EQ(positions, (std::set<uint64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(FedSampler, going_on_gives_a_rank_the_positions_that_it_would_have_had) {
  FedSampler sampler(10, feed_of({{{4}}}), {2, 5}, FedSampler::Position::kCounted, {1, 4});
  EXPECT_EQ(sampler.next()->entries[0].position, 5u * 4 + 1);
}

TEST(FedSampler, refuses_a_rank_that_does_not_exist) {
  const auto make = [](Shard shard) {
    FedSampler(10, feed_of({}), {}, FedSampler::Position::kCounted, shard);
  };
  EXPECT_THROW(make({2, 2}), OutOfRangeError);
  EXPECT_THROW(make({0, 0}), InvalidArgumentError);
}

TEST(FedSampler, positions_may_be_the_records) {
  FedSampler sampler(10, feed_of({{{7, 2, 7}}}), {4, 0}, FedSampler::Position::kRecord);
  const BatchPlan plan = sampler.next().value();
  for (const Entry& entry : plan.entries) {
    EXPECT_EQ(entry.position, entry.record);
    EXPECT_EQ(entry.epoch, 4u);
  }
  EXPECT_EQ(plan.after, (Progress{4, 3}));
}

TEST(FedSampler, a_feed_that_has_ended_is_not_asked_again) {
  int calls = 0;
  FedSampler sampler(10, [&calls]() -> std::optional<FedBatch> {
    ++calls;
    return std::nullopt;
  });
  EXPECT_FALSE(sampler.next().has_value());
  EXPECT_FALSE(sampler.next().has_value());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(sampler.progress(), Progress{});
}

TEST(FedSampler, a_batch_without_rows_is_a_batch) {
  FedSampler sampler(10, feed_of({{{}}, {{1}}}));
  EXPECT_TRUE(sampler.next()->entries.empty());
  EXPECT_EQ(sampler.next()->entries[0].position, 0u);
}

TEST(FedSampler, refuses_a_record_that_does_not_exist) {
  FedSampler sampler(10, feed_of({{{1}}, {{2, 10}}, {{3}}}));
  EXPECT_EQ(sampler.next()->entries[0].record, 1u);
  const Progress before = sampler.progress();
  try {
    sampler.next();
    FAIL() << "record 10 of 10 was accepted";
  } catch (const OutOfRangeError& error) {
    EXPECT_EQ(error.detail().expected, "a record index below 10");
    EXPECT_EQ(error.detail().found, "10");
  }
  EXPECT_EQ(sampler.progress(), before);
  EXPECT_EQ(sampler.next()->entries[0].record, 3u);
}

TEST(FedSampler, a_throwing_feed_is_reported_in_its_place_and_asked_again) {
  uint64_t calls = 0;
  FedSampler sampler(10, [&calls]() -> std::optional<FedBatch> {
    if (++calls == 2) throw std::runtime_error("not yet");
    return FedBatch{{calls}};
  });
  EXPECT_EQ(sampler.next()->entries[0].record, 1u);
  EXPECT_THROW(sampler.next(), std::runtime_error);
  EXPECT_EQ(sampler.progress(), (Progress{0, 1}));
  EXPECT_EQ(sampler.next()->entries[0].record, 3u);
}

TEST(FedSampler, substitutes_are_the_other_records_of_the_same_batch) {
  FedSampler sampler(10, feed_of({{{4, 5, 6}}, {{7}}}));
  const BatchPlan three = *sampler.next();
  EXPECT_EQ(sampler.substitute(three, 1, 1), 6u);
  EXPECT_EQ(sampler.substitute(three, 1, 2), 4u);
  EXPECT_EQ(sampler.substitute(three, 1, 3), std::nullopt);
  EXPECT_EQ(sampler.substitute(*sampler.next(), 0, 1), std::nullopt);
}

}  // namespace
}  // namespace fuelrail
