#include "fuelrail/sampler/fed_sampler.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/sampler_conformance.h"

namespace fuelrail {
namespace {

using Feed = std::function<std::optional<std::vector<uint64_t>>()>;

// Batches one after the other, empty at the end of each epoch, and for ever after the last.
Feed feed_of(std::vector<std::vector<std::vector<uint64_t>>> epochs) {
  size_t epoch = 0;
  size_t batch = 0;
  return
      [epochs = std::move(epochs), epoch, batch]() mutable -> std::optional<std::vector<uint64_t>> {
        if (epoch == epochs.size()) return std::nullopt;
        if (batch < epochs[epoch].size()) return epochs[epoch][batch++];
        ++epoch;
        batch = 0;
        return std::nullopt;
      };
}

// Epochs of 11 records in batches of 4 (the last has 3), going on from `start`; `epochs` of them.
std::unique_ptr<Sampler> make_fed(Progress start, uint32_t epochs) {
  constexpr uint64_t kRecords = 11;
  Progress at = start;
  return std::make_unique<FedSampler>(
      kRecords,
      [at, epochs]() mutable -> std::optional<std::vector<uint64_t>> {
        if (at.epoch >= epochs) return std::nullopt;
        if (at.position == kRecords) {
          at = {at.epoch + 1, 0};
          return std::nullopt;
        }
        std::vector<uint64_t> records;
        for (; records.size() < 4 && at.position < kRecords; ++at.position) {
          records.push_back((at.position * 7 + at.epoch) % kRecords);
        }
        return records;
      },
      start);
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
  FedSampler sampler(10, feed_of({{{3, 3, 9}, {0}}, {{5}}}), {2, 0});
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

TEST(FedSampler, an_empty_epoch_ends_the_order_for_good) {
  int calls = 0;
  FedSampler sampler(10, [&calls]() -> std::optional<std::vector<uint64_t>> {
    ++calls;
    return std::nullopt;
  });
  EXPECT_FALSE(sampler.next().has_value());
  EXPECT_FALSE(sampler.next().has_value());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(sampler.progress(), Progress{});
}

TEST(FedSampler, a_batch_without_rows_is_a_batch) {
  FedSampler sampler(10, feed_of({{{}, {1}}}));
  EXPECT_TRUE(sampler.next()->entries.empty());
  EXPECT_EQ(sampler.next()->entries[0].position, 0u);
}

TEST(FedSampler, refuses_a_record_that_does_not_exist) {
  FedSampler sampler(10, feed_of({{{1}, {2, 10}}}));
  EXPECT_EQ(sampler.next()->entries[0].record, 1u);
  const Progress before = sampler.progress();
  try {
    sampler.next();
    FAIL() << "record 10 of 10 was accepted";
  } catch (const OutOfRangeError& error) {
    EXPECT_EQ(error.detail().expected, "a record below 10");
    EXPECT_EQ(error.detail().found, "10");
  }
  EXPECT_EQ(sampler.progress(), before);
}

TEST(FedSampler, a_throwing_feed_loses_no_batch) {
  int calls = 0;
  FedSampler sampler(10, [&calls]() -> std::optional<std::vector<uint64_t>> {
    ++calls;
    if (calls == 2) throw std::runtime_error("not yet");
    if (calls > 3) return std::nullopt;
    return std::vector<uint64_t>{static_cast<uint64_t>(calls)};
  });
  EXPECT_THROW(sampler.next(), std::runtime_error);
  EXPECT_EQ(sampler.progress(), Progress{});
  EXPECT_EQ(sampler.next()->entries[0].record, 1u);
  EXPECT_EQ(sampler.next()->entries[0].record, 3u);
  EXPECT_FALSE(sampler.next().has_value());
}

TEST(FedSampler, substitutes_are_the_other_records_of_the_same_batch) {
  FedSampler sampler(10, feed_of({{{4, 5, 6}, {7}}}));
  const BatchPlan three = *sampler.next();
  EXPECT_EQ(sampler.substitute(three, 1, 1), 6u);
  EXPECT_EQ(sampler.substitute(three, 1, 2), 4u);
  EXPECT_EQ(sampler.substitute(three, 1, 3), std::nullopt);
  EXPECT_EQ(sampler.substitute(*sampler.next(), 0, 1), std::nullopt);
}

}  // namespace
}  // namespace fuelrail
