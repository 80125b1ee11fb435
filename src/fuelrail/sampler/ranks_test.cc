// The ranks of a job together take every position once, in the same global batches.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "fuelrail/base/permutation.h"
#include "fuelrail/testing/batch_plans.h"

namespace fuelrail {
namespace {

// The positions that all ranks read in the rest of an epoch, sorted.
struct Coverage {
  std::vector<uint64_t> valid;    // of rows that count
  std::vector<uint64_t> fillers;  // of all rows past the epoch's end
};

Coverage coverage(EpochSamplerOptions options, Progress start) {
  Coverage covered;
  std::optional<uint64_t> batches;
  for (uint32_t rank = 0; rank < options.order.shard.world_size; ++rank) {
    options.order.shard.rank = rank;
    const std::vector<BatchPlan> plans = rest_of_epoch(options, start);
    if (batches) {
      EXPECT_EQ(*batches, plans.size()) << "ranks differ in steps";
    }
    batches = plans.size();
    EXPECT_EQ(EpochSampler(options, start).batches_from(start.position), plans.size());
    for (size_t k = 0; k < plans.size(); ++k) {
      const uint64_t begin =
          start.position + k * options.order.batch_size * options.order.shard.world_size;
      const uint64_t end = begin + options.order.batch_size * options.order.shard.world_size;
      for (const Entry& entry : plans[k].entries) {
        EXPECT_GE(entry.position, begin);
        EXPECT_LT(entry.position, end);
        if (entry.position >= options.records) covered.fillers.push_back(entry.position);
        if (entry.valid && entry.position < options.records) {
          covered.valid.push_back(entry.position);
          EXPECT_EQ(entry.record, entry.position);
        }
      }
    }
  }
  std::sort(covered.valid.begin(), covered.valid.end());
  std::sort(covered.fillers.begin(), covered.fillers.end());
  return covered;
}

std::vector<uint64_t> range(uint64_t begin, uint64_t end) {
  std::vector<uint64_t> values(end - begin);
  std::iota(values.begin(), values.end(), begin);
  return values;
}

TEST(EpochSampler, the_ranks_together_take_every_position_once_from_any_start) {
  for (const LastBatch last_batch : kPolicies) {
    for (const uint64_t records : {1u, 2u, 7u, 10u, 24u, 61u, 96u}) {
      for (const uint64_t batch_size : {1u, 2u, 5u, 16u}) {
        for (const uint32_t world_size : {1u, 2u, 3u, 8u}) {
          const uint64_t global = batch_size * world_size;
          for (uint64_t start = 0; start < records; start += 1 + records / 9) {
            const Coverage covered = coverage({.records = records,
                                               .order = {.batch_size = batch_size,
                                                         .shard = {0, world_size},
                                                         .last_batch = last_batch}},
                                              {0, start});
            const uint64_t whole = start + (records - start) / global * global;
            const bool drop = last_batch == LastBatch::kDrop;
            ASSERT_EQ(covered.valid, range(start, drop ? whole : records))
                << name_of(last_batch) << ": " << records << " records, batch " << batch_size
                << ", world " << world_size << ", from " << start;
            const bool fills = (last_batch == LastBatch::kPad || last_batch == LastBatch::kWrap) &&
                               whole < records;
            ASSERT_EQ(covered.fillers, fills ? range(records, whole + global) : range(0, 0));
          }
        }
      }
    }
  }
}

TEST(EpochSampler, every_record_comes_once_in_a_shuffled_epoch) {
  for (const LastBatch last_batch : {LastBatch::kShort, LastBatch::kPad}) {
    std::vector<uint64_t> seen;
    for (uint32_t rank = 0; rank < 7; ++rank) {
      for (const BatchPlan& plan :
           rest_of_epoch({1000, {9, Shuffle::kFull, 13, {rank, 7}, last_batch}}, {4, 0})) {
        for (const Entry& entry : plan.entries) {
          if (entry.valid) seen.push_back(entry.record);
        }
      }
    }
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(seen, range(0, 1000)) << name_of(last_batch);
  }
}

TEST(EpochSampler, the_global_batches_are_the_same_for_every_world_size) {
  for (const LastBatch last_batch : kPolicies) {
    std::vector<Records> expected;
    for (const uint32_t world_size : {1u, 2u, 3u, 4u, 6u, 12u}) {
      std::vector<Records> batches;
      for (uint32_t rank = 0; rank < world_size; ++rank) {
        const auto plans = rest_of_epoch(
            {101, {3, Shuffle::kFull, 12 / world_size, {rank, world_size}, last_batch}});
        batches.resize(plans.size());
        for (size_t k = 0; k < plans.size(); ++k) {
          const Records mine = records_of(plans[k]);
          batches[k].insert(batches[k].end(), mine.begin(), mine.end());
        }
      }
      if (world_size == 1) expected = batches;
      EXPECT_EQ(batches, expected) << name_of(last_batch) << ", world " << world_size;
    }
  }
}

TEST(EpochSampler, ranks_and_batch_size_may_change_at_a_restore) {
  const Permutation order(100, 6, 1);
  EpochSamplerOptions options{100, {6, Shuffle::kFull, 4, {0, 2}, LastBatch::kShort}};
  EpochSampler before(options, {1, 0});
  for (int i = 0; i < 5; ++i) before.next();
  EXPECT_EQ(before.progress(), (Progress{1, 40}));

  options.order.batch_size = 5;
  options.order.shard = {2, 3};
  EpochSampler after(options, before.progress());
  EXPECT_EQ(after.batches_from(40), 4u);
  EXPECT_EQ(records_of(after.next().value()),
            (Records{order(50), order(51), order(52), order(53), order(54)}));
  EXPECT_EQ(after.progress(), (Progress{1, 55}));
}

}  // namespace
}  // namespace fuelrail
