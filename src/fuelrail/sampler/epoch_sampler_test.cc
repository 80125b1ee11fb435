#include "fuelrail/sampler/epoch_sampler.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/batch_plans.h"
#include "fuelrail/testing/sampler_conformance.h"

namespace fuelrail {
namespace {

struct EpochSamplers {
  static std::vector<SamplerCase> cases() {
    std::vector<SamplerCase> cases;
    for (const LastBatch last_batch : kPolicies) {
      for (const Shuffle& shuffle : {Shuffle::kNone, Shuffle::kFull, Shuffle::window(3, 2)}) {
        for (const Shard shard : {Shard{0, 1}, Shard{2, 3}}) {
          for (const uint64_t records : {0u, 1u, 7u, 12u, 100u}) {
            const EpochSamplerOptions options{records, {5, shuffle, 4, shard, last_batch}};
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
      EpochSamplerOptions options{.records = 7,
                                  .order = {.seed = 3, .batch_size = 2, .shard = {1, 2}}};
      options.order.weights = weights;
      if (samples > 0) options.order.samples = samples;
      cases.push_back({fmt::format("weights, {} samples", samples), 7, [options](Progress start) {
                         return std::make_unique<EpochSampler>(options, start);
                       }});
    }
    return cases;
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(EpochSampler, SamplerConformance, EpochSamplers);

TEST(EpochSampler, the_order_is_the_epochs_permutation) {
  EpochSampler sampler(
      {.records = 50, .order = {.seed = 77, .shuffle = Shuffle::kFull, .batch_size = 10}});
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
      {.records = 50, .order = {.seed = 77, .shuffle = Shuffle::window(4, 3), .batch_size = 10}});
  for (uint32_t epoch = 0; epoch < 3; ++epoch) {
    const WindowOrder order(50, 4, 3, 77, epoch);
    for (uint64_t batch = 0; batch < 5; ++batch) {
      const BatchPlan plan = sampler.next().value();
      for (const Entry& entry : plan.entries) EXPECT_EQ(entry.record, order(entry.position));
    }
  }
}

EpochSamplerOptions weighted(std::vector<double> weights, uint64_t samples) {
  EpochSamplerOptions options{.records = weights.size(), .order = {.seed = 5, .batch_size = 4}};
  options.order.weights = std::make_shared<const Weights>(weights);
  if (samples > 0) options.order.samples = samples;
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
  options.order.batch_size = 2;
  Records first;
  for (uint32_t rank = 0; rank < 2; ++rank) {
    options.order.shard = {rank, 2};
    for (const uint64_t record : records_of(rest_of_epoch(options)[0])) first.push_back(record);
  }
  EXPECT_EQ(first, Records(all.begin(), all.begin() + 4));
}

TEST(EpochSampler, fillers_of_a_weighted_epoch_repeat_what_was_drawn) {
  EpochSamplerOptions options = weighted({1, 2, 3, 4, 5, 6}, 3);
  options.order.last_batch = LastBatch::kWrap;
  const Records wrapped = records_of(rest_of_epoch(options)[0]);
  EXPECT_EQ(wrapped[3], wrapped[0]);
  options.order.last_batch = LastBatch::kPad;
  const Records padded = records_of(rest_of_epoch(options)[0]);
  EXPECT_EQ(padded[3], wrapped[2]);
}

TEST(EpochSampler, weights_that_do_not_fit_are_refused) {
  EpochSamplerOptions options = weighted({1, 2, 3}, 0);
  options.records = 4;
  EXPECT_THROW(EpochSampler{options}, InvalidArgumentError);
  options.records = 3;
  options.order.shuffle = Shuffle::kFull;
  EXPECT_THROW(EpochSampler{options}, InvalidArgumentError);
  options.order.shuffle = Shuffle::kNone;
  options.order.samples = (uint64_t{1} << 62) + 1;
  EXPECT_THROW(EpochSampler{options}, InvalidArgumentError);
  EXPECT_THROW((EpochSampler{{.records = 3, .order = {.samples = 3}}}), InvalidArgumentError);
  EXPECT_THROW((EpochSampler{{.records = 3, .order = {.shuffle = Shuffle::window(0, 1)}}}),
               InvalidArgumentError);
}

TEST(EpochSampler, a_start_in_the_tail_that_drop_leaves_out_begins_the_next_epoch) {
  const EpochSamplerOptions options{.records = 10,
                                    .order = {.batch_size = 4, .last_batch = LastBatch::kDrop}};
  EpochSampler sampler(options, {3, 7});
  EXPECT_EQ(sampler.progress(), (Progress{4, 0}));
  const BatchPlan plan = sampler.next().value();
  EXPECT_EQ(plan.epoch, 4u);
  EXPECT_EQ(positions_of(plan), (Records{0, 1, 2, 3}));
}

TEST(EpochSampler, a_start_at_the_end_begins_the_next_epoch) {
  for (const LastBatch last_batch : kPolicies) {
    EpochSampler sampler({.records = 10, .order = {.batch_size = 4, .last_batch = last_batch}},
                         {3, 10});
    EXPECT_EQ(sampler.progress(), (Progress{4, 0}));
    EXPECT_EQ(sampler.next()->epoch, 4u);
  }
}

TEST(EpochSampler, drop_with_fewer_records_than_a_global_batch_gives_nothing_and_stays) {
  EpochSampler sampler(
      {.records = 7, .order = {.batch_size = 4, .shard = {1, 2}, .last_batch = LastBatch::kDrop}},
      {2, 0});
  EXPECT_EQ(sampler.batches_from(0), 0u);
  EXPECT_FALSE(sampler.next().has_value());
  EXPECT_EQ(sampler.progress(), (Progress{2, 0}));
}

TEST(EpochSampler, no_records_give_nothing) {
  for (const LastBatch last_batch : kPolicies) {
    EpochSampler sampler(
        {.records = 0,
         .order = {.shuffle = Shuffle::kFull, .batch_size = 4, .last_batch = last_batch}});
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
      EpochSampler sampler(
          {kRecords, {1, Shuffle::kFull, kRows, {rank, kWorld}, LastBatch::kShort}},
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
  EpochSampler tail({kRecords, {1, Shuffle::kFull, kRows, {4, kWorld}, LastBatch::kShort}},
                    {8, kRecords / kGlobal * kGlobal});
  const BatchPlan last = tail.next().value();
  EXPECT_TRUE(last.ends_epoch);
  EXPECT_EQ(records_of(last), (Records{order(kRecords - 1)}));
  EXPECT_EQ(last.after, (Progress{9, 0}));
}

TEST(EpochSampler, epochs_differ_from_20_records_on) {
  for (const uint64_t records : {20u, 21u, 50u, 1000u}) {
    EpochSampler sampler(
        {.records = records, .order = {.shuffle = Shuffle::kFull, .batch_size = records}});
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
  EXPECT_THROW(make({.records = 1, .order = {.batch_size = 0}}), InvalidArgumentError);
  EXPECT_THROW(make({.records = 1, .order = {.shard = {0, 0}}}), InvalidArgumentError);
  EXPECT_THROW(make({.records = 1, .order = {.batch_size = uint64_t{1} << 62, .shard = {0, 2}}}),
               InvalidArgumentError);
  EXPECT_THROW(make({.records = (uint64_t{1} << 62) + 1}), InvalidArgumentError);
  EXPECT_THROW(make({.records = 1, .order = {.shard = {2, 2}}}), OutOfRangeError);
  EXPECT_THROW(make({.records = 1}, {0, 2}), OutOfRangeError);
  EXPECT_NO_THROW(make({.records = uint64_t{1} << 62, .order = {.batch_size = uint64_t{1} << 62}}));
}

TEST(EpochSampler, says_which_start_it_refuses) {
  try {
    EpochSampler({.records = 10}, {0, 11});
    FAIL() << "a start beyond the records was accepted";
  } catch (const OutOfRangeError& error) {
    EXPECT_STREQ(error.what(),
                 "the start position is after the end of the epoch: expected at most 10, found 11. "
                 "Restore a state that was saved with this dataset.");
  }
}

TEST(EpochSampler, substitutes_are_any_records_and_the_same_for_every_world_size) {
  const EpochSamplerOptions alone{.records = 50, .order = {.seed = 3, .batch_size = 50}};
  EpochSamplerOptions second_of_two = alone;
  second_of_two.order.batch_size = 25;
  second_of_two.order.shard = {1, 2};
  EpochSampler whole(alone);
  EpochSampler half(second_of_two);
  const BatchPlan plan = *whole.next();
  const BatchPlan half_plan = *half.next();
  std::set<uint64_t> seen;
  for (size_t row = 0; row < 25; ++row) {
    for (uint32_t attempt = 1; attempt <= 20; ++attempt) {
      const std::optional<uint64_t> record = half.substitute(half_plan, row, attempt);
      EXPECT_EQ(record, whole.substitute(plan, 25 + row, attempt));
      seen.insert(*record);
    }
  }
  EXPECT_EQ(seen.size(), 50u) << "500 draws of 50";
}

TEST(EpochSampler, substitutes_are_drawn_by_the_weights) {
  const std::vector<double> weights{0, 1, 0, 3, 0};
  EpochSampler sampler({.records = 5,
                        .order = {.seed = 3,
                                  .batch_size = 40,
                                  .weights = std::make_shared<const Weights>(weights),
                                  .samples = 40}});
  const BatchPlan plan = *sampler.next();
  std::map<uint64_t, int> times;
  for (size_t row = 0; row < 40; ++row) {
    for (uint32_t attempt = 1; attempt <= Sampler::kMaxSubstitutes; ++attempt) {
      ++times[*sampler.substitute(plan, row, attempt)];
    }
  }
  ASSERT_EQ(times.size(), 2u);
  EXPECT_NEAR(times[3] / 40000.0, 0.75, 0.01);
  EXPECT_EQ(times[1] + times[3], 40000);
}

}  // namespace
}  // namespace fuelrail
