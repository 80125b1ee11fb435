// The four policies for the last, incomplete batch (docs/design.md, rule 1).
#include <gtest/gtest.h>

#include "fuelrail/base/permutation.h"
#include "fuelrail/testing/batch_plans.h"

namespace fuelrail {
namespace {

// The example of docs/design.md, rule 1: N = 10, G = 4, W = 2.
class TenRecordsTwoRanks : public ::testing::Test {
 protected:
  static std::vector<BatchPlan> plans(LastBatch last_batch, uint32_t rank) {
    return rest_of_epoch(
        {.records = 10, .order = {.batch_size = 2, .shard = {rank, 2}, .last_batch = last_batch}});
  }
  static void expect_whole_batches(const std::vector<BatchPlan>& rank0,
                                   const std::vector<BatchPlan>& rank1) {
    EXPECT_EQ(records_of(rank0[0]), (Records{0, 1}));
    EXPECT_EQ(records_of(rank1[0]), (Records{2, 3}));
    EXPECT_EQ(records_of(rank0[1]), (Records{4, 5}));
    EXPECT_EQ(records_of(rank1[1]), (Records{6, 7}));
  }
};

TEST_F(TenRecordsTwoRanks, drop_gives_two_batches) {
  const auto rank0 = plans(LastBatch::kDrop, 0);
  const auto rank1 = plans(LastBatch::kDrop, 1);
  ASSERT_EQ(rank0.size(), 2u);
  ASSERT_EQ(rank1.size(), 2u);
  expect_whole_batches(rank0, rank1);
  EXPECT_EQ(rank0[0].after, (Progress{0, 4}));
  EXPECT_EQ(rank0[1].after, (Progress{1, 0}));
}

TEST_F(TenRecordsTwoRanks, pad_repeats_the_last_record_as_invalid) {
  const auto rank0 = plans(LastBatch::kPad, 0);
  const auto rank1 = plans(LastBatch::kPad, 1);
  ASSERT_EQ(rank0.size(), 3u);
  ASSERT_EQ(rank1.size(), 3u);
  expect_whole_batches(rank0, rank1);
  EXPECT_EQ(records_of(rank0[2]), (Records{8, 9}));
  EXPECT_EQ(records_of(rank1[2]), (Records{9, 9}));
  EXPECT_EQ(valid_of(rank0[2]), (Valid{true, true}));
  EXPECT_EQ(valid_of(rank1[2]), (Valid{false, false}));
  EXPECT_EQ(positions_of(rank1[2]), (Records{10, 11}));
  EXPECT_EQ(rank1[2].after, (Progress{1, 0}));
}

TEST_F(TenRecordsTwoRanks, wrap_goes_on_from_the_beginning) {
  const auto rank0 = plans(LastBatch::kWrap, 0);
  const auto rank1 = plans(LastBatch::kWrap, 1);
  ASSERT_EQ(rank0.size(), 3u);
  ASSERT_EQ(rank1.size(), 3u);
  expect_whole_batches(rank0, rank1);
  EXPECT_EQ(records_of(rank0[2]), (Records{8, 9}));
  EXPECT_EQ(records_of(rank1[2]), (Records{0, 1}));
  EXPECT_EQ(valid_of(rank1[2]), (Valid{true, true}));
  EXPECT_EQ(positions_of(rank1[2]), (Records{10, 11}));
  EXPECT_EQ(rank1[2].after, (Progress{1, 0}));
}

TEST_F(TenRecordsTwoRanks, short_splits_the_rest_evenly) {
  const auto rank0 = plans(LastBatch::kShort, 0);
  const auto rank1 = plans(LastBatch::kShort, 1);
  ASSERT_EQ(rank0.size(), 3u);
  ASSERT_EQ(rank1.size(), 3u);
  expect_whole_batches(rank0, rank1);
  EXPECT_EQ(records_of(rank0[2]), (Records{8}));
  EXPECT_EQ(records_of(rank1[2]), (Records{9}));
  EXPECT_EQ(rank0[2].after, (Progress{1, 0}));
}

TEST(EpochSampler, short_gives_the_first_ranks_one_row_more_and_the_last_ones_none) {
  const auto last_batch_of = [](uint64_t records, uint32_t rank) {
    return positions_of(
        rest_of_epoch({.records = records, .order = {.batch_size = 2, .shard = {rank, 4}}}).back());
  };
  EXPECT_EQ(last_batch_of(13, 0), (Records{8, 9}));
  EXPECT_EQ(last_batch_of(13, 1), (Records{10}));
  EXPECT_EQ(last_batch_of(13, 2), (Records{11}));
  EXPECT_EQ(last_batch_of(13, 3), (Records{12}));
  EXPECT_EQ(last_batch_of(10, 0), (Records{8}));
  EXPECT_EQ(last_batch_of(10, 1), (Records{9}));
  EXPECT_EQ(last_batch_of(10, 2), (Records{}));
  EXPECT_EQ(last_batch_of(10, 3), (Records{}));
}

TEST(EpochSampler, wrap_goes_round_as_often_as_it_takes) {
  const auto plans =
      rest_of_epoch({.records = 3, .order = {.batch_size = 8, .last_batch = LastBatch::kWrap}});
  ASSERT_EQ(plans.size(), 1u);
  EXPECT_EQ(records_of(plans[0]), (Records{0, 1, 2, 0, 1, 2, 0, 1}));
  EXPECT_EQ(positions_of(plans[0]), (Records{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(EpochSampler, fillers_of_a_shuffled_epoch_follow_its_order) {
  const Permutation order(10, 3, 2);
  EpochSamplerOptions options{.records = 10,
                              .order = {.seed = 3, .shuffle = Shuffle::kFull, .batch_size = 6}};
  options.order.last_batch = LastBatch::kWrap;
  EXPECT_EQ(records_of(rest_of_epoch(options, {2, 6})[0]),
            (Records{order(6), order(7), order(8), order(9), order(0), order(1)}));
  options.order.last_batch = LastBatch::kPad;
  const BatchPlan padded = rest_of_epoch(options, {2, 6})[0];
  EXPECT_EQ(records_of(padded),
            (Records{order(6), order(7), order(8), order(9), order(9), order(9)}));
  EXPECT_EQ(valid_of(padded), (Valid{true, true, true, true, false, false}));
}

}  // namespace
}  // namespace fuelrail
