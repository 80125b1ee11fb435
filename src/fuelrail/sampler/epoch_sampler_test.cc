#include "fuelrail/sampler/epoch_sampler.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/sampler_conformance.h"

namespace fuelrail {
namespace {

constexpr LastBatch kPolicies[] = {LastBatch::kShort, LastBatch::kDrop, LastBatch::kPad,
                                   LastBatch::kWrap};

const char* name_of(LastBatch last_batch) {
  switch (last_batch) {
    case LastBatch::kShort:
      return "short";
    case LastBatch::kDrop:
      return "drop";
    case LastBatch::kPad:
      return "pad";
    case LastBatch::kWrap:
      return "wrap";
  }
  return "";
}

struct EpochSamplers {
  static std::vector<SamplerCase> cases() {
    std::vector<SamplerCase> cases;
    for (const LastBatch last_batch : kPolicies) {
      for (const Shuffle& shuffle : {Shuffle::kNone, Shuffle::kFull, Shuffle::window(3, 2)}) {
        for (const Shard shard : {Shard{0, 1}, Shard{2, 3}}) {
          for (const uint64_t records : {0u, 1u, 7u, 12u, 100u}) {
            const EpochSamplerOptions options{records, 5, shuffle, 4, shard, last_batch};
            cases.push_back({fmt::format("{} records, {}, {}, rank {}", records, to_string(shuffle),
                                         name_of(last_batch), shard.rank),
                             records, [options](Progress start) {
                               return std::make_unique<EpochSampler>(options, start);
                             }});
          }
        }
      }
    }
    const auto weights =
        std::make_shared<const Weights>(std::vector<double>{1, 0, 2.5, 4, 1, 9, 3});
    for (const uint64_t samples : {0u, 3u, 20u}) {
      EpochSamplerOptions options{.records = 7, .seed = 3, .batch_size = 2, .shard = {1, 2}};
      options.weights = weights;
      options.samples = samples;
      cases.push_back({fmt::format("weights, {} samples", samples), 7, [options](Progress start) {
                         return std::make_unique<EpochSampler>(options, start);
                       }});
    }
    return cases;
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(EpochSampler, SamplerConformance, EpochSamplers);

// What is left, from `start` on, of the epoch in which it lies.
std::vector<BatchPlan> rest_of_epoch(const EpochSamplerOptions& options, Progress start = {}) {
  EpochSampler sampler(options, start);
  std::vector<BatchPlan> plans;
  while (sampler.progress().epoch == start.epoch) {
    std::optional<BatchPlan> plan = sampler.next();
    if (!plan) break;
    plans.push_back(std::move(*plan));
  }
  return plans;
}

std::vector<uint64_t> records_of(const BatchPlan& plan) {
  std::vector<uint64_t> records;
  for (const Entry& entry : plan.entries) records.push_back(entry.record);
  return records;
}

std::vector<uint64_t> positions_of(const BatchPlan& plan) {
  std::vector<uint64_t> positions;
  for (const Entry& entry : plan.entries) positions.push_back(entry.position);
  return positions;
}

std::vector<bool> valid_of(const BatchPlan& plan) {
  std::vector<bool> valid;
  for (const Entry& entry : plan.entries) valid.push_back(entry.valid);
  return valid;
}

using Records = std::vector<uint64_t>;
using Valid = std::vector<bool>;

// The example of docs/design.md, rule 1: N = 10, G = 4, W = 2.
class TenRecordsTwoRanks : public testing::Test {
 protected:
  static std::vector<BatchPlan> plans(LastBatch last_batch, uint32_t rank) {
    return rest_of_epoch(
        {.records = 10, .batch_size = 2, .shard = {rank, 2}, .last_batch = last_batch});
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
        rest_of_epoch({.records = records, .batch_size = 2, .shard = {rank, 4}}).back());
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
  const auto plans = rest_of_epoch({.records = 3, .batch_size = 8, .last_batch = LastBatch::kWrap});
  ASSERT_EQ(plans.size(), 1u);
  EXPECT_EQ(records_of(plans[0]), (Records{0, 1, 2, 0, 1, 2, 0, 1}));
  EXPECT_EQ(positions_of(plans[0]), (Records{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(EpochSampler, fillers_of_a_shuffled_epoch_follow_its_order) {
  const Permutation order(10, 3, 2);
  EpochSamplerOptions options{.records = 10, .seed = 3, .shuffle = Shuffle::kFull, .batch_size = 6};
  options.last_batch = LastBatch::kWrap;
  EXPECT_EQ(records_of(rest_of_epoch(options, {2, 6})[0]),
            (Records{order(6), order(7), order(8), order(9), order(0), order(1)}));
  options.last_batch = LastBatch::kPad;
  const BatchPlan padded = rest_of_epoch(options, {2, 6})[0];
  EXPECT_EQ(records_of(padded),
            (Records{order(6), order(7), order(8), order(9), order(9), order(9)}));
  EXPECT_EQ(valid_of(padded), (Valid{true, true, true, true, false, false}));
}

TEST(EpochSampler, the_order_is_the_epochs_permutation) {
  EpochSampler sampler({.records = 50, .seed = 77, .shuffle = Shuffle::kFull, .batch_size = 10});
  for (uint32_t epoch = 0; epoch < 3; ++epoch) {
    const Permutation order(50, 77, epoch);
    for (uint64_t batch = 0; batch < 5; ++batch) {
      const BatchPlan plan = sampler.next().value();
      EXPECT_EQ(plan.epoch, epoch);
      EXPECT_EQ(plan.ends_epoch, batch == 4);
      for (uint64_t row = 0; row < 10; ++row) {
        EXPECT_EQ(plan.entries[row].record, order(batch * 10 + row));
      }
    }
  }
}

TEST(EpochSampler, window_shuffle_is_the_window_order_of_each_epoch) {
  EpochSampler sampler(
      {.records = 50, .seed = 77, .shuffle = Shuffle::window(4, 3), .batch_size = 10});
  for (uint32_t epoch = 0; epoch < 3; ++epoch) {
    const WindowOrder order(50, 4, 3, 77, epoch);
    for (uint64_t batch = 0; batch < 5; ++batch) {
      const BatchPlan plan = sampler.next().value();
      for (const Entry& entry : plan.entries) EXPECT_EQ(entry.record, order(entry.position));
    }
  }
}

EpochSamplerOptions weighted(std::vector<double> weights, uint64_t samples) {
  EpochSamplerOptions options{.records = weights.size(), .seed = 5, .batch_size = 4};
  options.weights = std::make_shared<const Weights>(weights);
  options.samples = samples;
  return options;
}

TEST(EpochSampler, weights_draw_each_position_of_each_epoch_anew) {
  const EpochSamplerOptions options = weighted({1, 0, 1, 6}, 10'000);
  EXPECT_EQ(EpochSampler(options).batches_from(0), 2500u);
  std::vector<std::vector<uint64_t>> epochs;
  for (uint32_t epoch = 0; epoch < 2; ++epoch) {
    Records& drawn = epochs.emplace_back();
    for (const BatchPlan& plan : rest_of_epoch(options, {epoch, 0})) {
      for (const uint64_t record : records_of(plan)) drawn.push_back(record);
    }
    EXPECT_EQ(drawn.size(), 10'000u);
    EXPECT_EQ(std::count(drawn.begin(), drawn.end(), 1u), 0);
    EXPECT_NEAR(static_cast<double>(std::count(drawn.begin(), drawn.end(), 3u)), 7500, 150);
  }
  EXPECT_NE(epochs[0], epochs[1]);
}

TEST(EpochSampler, weights_give_as_many_samples_as_records_unless_told) {
  EXPECT_EQ(rest_of_epoch(weighted({1, 2, 3, 4, 5}, 0)).size(), 2u);
  EXPECT_EQ(rest_of_epoch(weighted({1, 2, 3, 4, 5}, 3)).size(), 1u);
}

TEST(EpochSampler, ranks_share_a_weighted_epoch) {
  EpochSamplerOptions options = weighted({1, 2, 3, 4, 5, 6}, 9);
  Records all;
  for (const BatchPlan& plan : rest_of_epoch(options)) {
    for (const uint64_t record : records_of(plan)) all.push_back(record);
  }
  options.batch_size = 2;
  Records first;
  for (uint32_t rank = 0; rank < 2; ++rank) {
    options.shard = {rank, 2};
    for (const uint64_t record : records_of(rest_of_epoch(options)[0])) first.push_back(record);
  }
  EXPECT_EQ(first, Records(all.begin(), all.begin() + 4));
}

TEST(EpochSampler, fillers_of_a_weighted_epoch_repeat_what_was_drawn) {
  EpochSamplerOptions options = weighted({1, 2, 3, 4, 5, 6}, 3);
  options.last_batch = LastBatch::kWrap;
  const Records wrapped = records_of(rest_of_epoch(options)[0]);
  EXPECT_EQ(wrapped[3], wrapped[0]);
  options.last_batch = LastBatch::kPad;
  const Records padded = records_of(rest_of_epoch(options)[0]);
  EXPECT_EQ(padded[3], wrapped[2]);
}

TEST(EpochSampler, weights_that_do_not_fit_are_refused) {
  EpochSamplerOptions options = weighted({1, 2, 3}, 0);
  options.records = 4;
  EXPECT_THROW(EpochSampler{options}, InvalidArgumentError);
  options.records = 3;
  options.shuffle = Shuffle::kFull;
  EXPECT_THROW(EpochSampler{options}, InvalidArgumentError);
  options.shuffle = Shuffle::kNone;
  options.samples = (uint64_t{1} << 62) + 1;
  EXPECT_THROW(EpochSampler{options}, InvalidArgumentError);
  EXPECT_THROW((EpochSampler{{.records = 3, .samples = 3}}), InvalidArgumentError);
  EXPECT_THROW((EpochSampler{{.records = 3, .shuffle = Shuffle::window(0, 1)}}),
               InvalidArgumentError);
}

// Positions that are read, over all ranks, of the rest of an epoch; sorted.
struct Coverage {
  std::vector<uint64_t> valid;    // of rows that count
  std::vector<uint64_t> fillers;  // of all rows past the epoch's end
};

Coverage coverage(EpochSamplerOptions options, Progress start) {
  Coverage covered;
  std::optional<uint64_t> batches;
  for (uint32_t rank = 0; rank < options.shard.world_size; ++rank) {
    options.shard.rank = rank;
    const std::vector<BatchPlan> plans = rest_of_epoch(options, start);
    if (batches) {
      EXPECT_EQ(*batches, plans.size()) << "ranks differ in steps";
    }
    batches = plans.size();
    EXPECT_EQ(EpochSampler(options, start).batches_from(start.position), plans.size());
    for (size_t k = 0; k < plans.size(); ++k) {
      const uint64_t begin = start.position + k * options.batch_size * options.shard.world_size;
      const uint64_t end = begin + options.batch_size * options.shard.world_size;
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
                                               .batch_size = batch_size,
                                               .shard = {0, world_size},
                                               .last_batch = last_batch},
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
           rest_of_epoch({1000, 9, Shuffle::kFull, 13, {rank, 7}, last_batch}, {4, 0})) {
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
            {101, 3, Shuffle::kFull, 12 / world_size, {rank, world_size}, last_batch});
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
  EpochSamplerOptions options{100, 6, Shuffle::kFull, 4, {0, 2}, LastBatch::kShort};
  EpochSampler before(options, {1, 0});
  for (int i = 0; i < 5; ++i) before.next();
  EXPECT_EQ(before.progress(), (Progress{1, 40}));

  options.batch_size = 5;
  options.shard = {2, 3};
  EpochSampler after(options, before.progress());
  EXPECT_EQ(after.batches_from(40), 4u);
  EXPECT_EQ(records_of(after.next().value()),
            (Records{order(50), order(51), order(52), order(53), order(54)}));
  EXPECT_EQ(after.progress(), (Progress{1, 55}));
}

TEST(EpochSampler, a_start_in_the_tail_that_drop_leaves_out_begins_the_next_epoch) {
  const EpochSamplerOptions options{.records = 10, .batch_size = 4, .last_batch = LastBatch::kDrop};
  EpochSampler sampler(options, {3, 7});
  EXPECT_EQ(sampler.progress(), (Progress{4, 0}));
  const BatchPlan plan = sampler.next().value();
  EXPECT_EQ(plan.epoch, 4u);
  EXPECT_EQ(positions_of(plan), (Records{0, 1, 2, 3}));
}

TEST(EpochSampler, a_start_at_the_end_begins_the_next_epoch) {
  for (const LastBatch last_batch : kPolicies) {
    EpochSampler sampler({.records = 10, .batch_size = 4, .last_batch = last_batch}, {3, 10});
    EXPECT_EQ(sampler.progress(), (Progress{4, 0}));
    EXPECT_EQ(sampler.next()->epoch, 4u);
  }
}

TEST(EpochSampler, drop_with_fewer_records_than_a_global_batch_gives_nothing_and_stays) {
  EpochSampler sampler(
      {.records = 7, .batch_size = 4, .shard = {1, 2}, .last_batch = LastBatch::kDrop}, {2, 0});
  EXPECT_EQ(sampler.batches_from(0), 0u);
  EXPECT_FALSE(sampler.next().has_value());
  EXPECT_EQ(sampler.progress(), (Progress{2, 0}));
}

TEST(EpochSampler, no_records_give_nothing) {
  for (const LastBatch last_batch : kPolicies) {
    EpochSampler sampler(
        {.records = 0, .shuffle = Shuffle::kFull, .batch_size = 4, .last_batch = last_batch});
    EXPECT_EQ(sampler.batches_from(0), 0u);
    EXPECT_FALSE(sampler.next().has_value());
  }
}

TEST(EpochSampler, far_positions_of_a_huge_epoch_are_reached_at_once) {
  constexpr uint64_t kRecords = (uint64_t{1} << 33) + 5;
  constexpr uint32_t kWorld = 1024;
  constexpr uint64_t kRows = 256;
  constexpr uint64_t kGlobal = kWorld * kRows;
  const Permutation order(kRecords, 1, 8);
  for (const uint64_t batch : {uint64_t{0}, uint64_t{12345}, kRecords / kGlobal - 1}) {
    for (const uint32_t rank : {0u, 511u, kWorld - 1}) {
      EpochSampler sampler({kRecords, 1, Shuffle::kFull, kRows, {rank, kWorld}, LastBatch::kShort},
                           {8, batch * kGlobal});
      const BatchPlan plan = sampler.next().value();
      ASSERT_EQ(plan.entries.size(), kRows);
      for (uint64_t row = 0; row < kRows; ++row) {
        const uint64_t position = batch * kGlobal + rank * kRows + row;
        ASSERT_EQ(plan.entries[row].position, position);
        ASSERT_EQ(plan.entries[row].record, order(position));
      }
    }
  }
  EpochSampler tail({kRecords, 1, Shuffle::kFull, kRows, {4, kWorld}, LastBatch::kShort},
                    {8, kRecords / kGlobal * kGlobal});
  const BatchPlan last = tail.next().value();
  EXPECT_TRUE(last.ends_epoch);
  EXPECT_EQ(records_of(last), (Records{order(kRecords - 1)}));
  EXPECT_EQ(last.after, (Progress{9, 0}));
}

TEST(EpochSampler, epochs_differ_from_20_records_on) {
  for (const uint64_t records : {20u, 21u, 50u, 1000u}) {
    EpochSampler sampler({.records = records, .shuffle = Shuffle::kFull, .batch_size = records});
    std::vector<Records> epochs;
    for (int epoch = 0; epoch < 20; ++epoch) epochs.push_back(records_of(sampler.next().value()));
    std::sort(epochs.begin(), epochs.end());
    EXPECT_EQ(std::adjacent_find(epochs.begin(), epochs.end()), epochs.end());
  }
}

TEST(EpochSampler, refuses_options_that_make_no_sense) {
  const auto make = [](EpochSamplerOptions options, Progress start = {}) {
    EpochSampler sampler(options, start);
  };
  EXPECT_THROW(make({.records = 1, .batch_size = 0}), InvalidArgumentError);
  EXPECT_THROW(make({.records = 1, .shard = {0, 0}}), InvalidArgumentError);
  EXPECT_THROW(make({.records = 1, .batch_size = uint64_t{1} << 62, .shard = {0, 2}}),
               InvalidArgumentError);
  EXPECT_THROW(make({.records = (uint64_t{1} << 62) + 1}), InvalidArgumentError);
  EXPECT_THROW(make({.records = 1, .shard = {2, 2}}), OutOfRangeError);
  EXPECT_THROW(make({.records = 1}, {0, 2}), OutOfRangeError);
  EXPECT_NO_THROW(make({.records = uint64_t{1} << 62, .batch_size = uint64_t{1} << 62}));
}

TEST(EpochSampler, says_which_start_it_refuses) {
  try {
    EpochSampler({.records = 10}, {0, 11});
    FAIL() << "a start beyond the records was accepted";
  } catch (const OutOfRangeError& error) {
    EXPECT_STREQ(error.what(),
                 "the start lies beyond the records: expected a position up to 10, found 11. "
                 "Restore the state that belongs to this dataset.");
  }
}

}  // namespace
}  // namespace fuelrail
