#include "fuelrail/mxnet/record_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/record_file.h"
#include "fuelrail/testing/sampler_conformance.h"

namespace fuelrail::mxnet {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::shared_ptr<const RecordOrder> order_of(size_t records, const RecordOrderOptions& options) {
  std::vector<std::string> payloads;
  for (size_t i = 0; i < records; ++i) {
    payloads.push_back(recordio::image_payload(i, {static_cast<float>(i)}, "pixels"));
  }
  const recordio::RecordFile file(payloads);
  const auto files = std::make_shared<const RecordFiles>(std::vector<std::string>{file.path});
  return std::make_shared<const RecordOrder>(files, options);
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

size_t pad_of(const BatchPlan& plan) {
  size_t pad = 0;
  for (const Entry& entry : plan.entries) pad += entry.valid ? 0 : 1;
  return pad;
}

struct PlainSamplers {
  static std::vector<SamplerCase> cases() {
    std::vector<SamplerCase> cases;
    for (const size_t batch : {1U, 3U, 5U, 7U, 25U}) {
      const auto order = order_of(10, {.shuffle = true, .seed = 2, .batch_size = batch});
      cases.push_back({.name = "batch " + std::to_string(batch),
                       .records = 10,
                       .make = [order, batch](Progress start) {
                         return std::make_unique<RecordSampler>(
                             order, RecordSamplerOptions{.batch_size = batch, .round_batch = false},
                             start);
                       }});
    }
    return cases;
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(RecordSampler, SamplerConformance, PlainSamplers);

TEST(RecordSampler, the_last_batch_borrows_from_the_next_pass_which_goes_on_behind_it) {
  RecordSampler sampler(order_of(10, {}), {.batch_size = 4});
  EXPECT_THAT(records_of(*sampler.next()), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(records_of(*sampler.next()), ElementsAre(4, 5, 6, 7));
  const BatchPlan last = *sampler.next();
  EXPECT_THAT(records_of(last), ElementsAre(8, 9, 0, 1));
  EXPECT_THAT(positions_of(last), ElementsAre(8, 9, 0, 1));
  EXPECT_EQ(last.entries[1].epoch, 0U);
  EXPECT_EQ(last.entries[2].epoch, 1U);  // random numbers of the pass that the record belongs to
  EXPECT_EQ(pad_of(last), 2U);
  EXPECT_TRUE(last.ends_epoch);
  EXPECT_EQ(last.after, (Progress{1, 2}));
  EXPECT_THAT(records_of(*sampler.next()), ElementsAre(2, 3, 4, 5));
  const BatchPlan full = *sampler.next();
  EXPECT_TRUE(full.ends_epoch);
  EXPECT_EQ(pad_of(full), 0U);
  EXPECT_EQ(full.after, (Progress{2, 0}));
}

TEST(RecordSampler, a_batch_of_up_to_twice_the_part_borrows_all_of_it) {
  const auto order = order_of(3, {});
  RecordSampler sampler(order, {.batch_size = 5});
  EXPECT_THAT(records_of(*sampler.next()), ElementsAre(0, 1, 2, 0, 1));
  EXPECT_THAT(records_of(*sampler.next()), ElementsAre(2, 0, 1, 2, 0));
  EXPECT_THAT(
      [&] { RecordSampler(order, {.batch_size = 7}); },
      ThrowsMessage<InvalidArgumentError>(HasSubstr("more than twice the number of records")));
  EXPECT_THAT([&] { RecordSampler(order, {.batch_size = 0}); },
              ThrowsMessage<InvalidArgumentError>(HasSubstr("batch_size")));
}

TEST(RecordSampler, without_round_batch_the_last_record_fills_the_last_batch) {
  RecordSampler sampler(order_of(4, {}), {.batch_size = 3, .round_batch = false});
  sampler.next();
  const BatchPlan last = *sampler.next();
  EXPECT_THAT(records_of(last), ElementsAre(3, 3, 3));
  EXPECT_THAT(positions_of(last), ElementsAre(3, 4, 5));
  EXPECT_EQ(pad_of(last), 2U);
  EXPECT_EQ(last.after, (Progress{1, 0}));
}

TEST(RecordSampler, rounded_it_goes_on_from_any_batch_as_if_never_stopped) {
  const auto order = order_of(7, {.indexed = true, .shuffle = true, .batch_size = 3});
  const RecordSamplerOptions options{.batch_size = 3, .chunk_positions = true};
  RecordSampler uninterrupted(order, options);
  for (int batch = 0; batch < 12; ++batch) {
    RecordSampler restarted(order, options, uninterrupted.progress());
    const BatchPlan expected = *uninterrupted.next();
    const BatchPlan plan = *restarted.next();
    EXPECT_THAT(records_of(plan), ElementsAreArray(records_of(expected)));
    EXPECT_THAT(positions_of(plan), ElementsAreArray(positions_of(expected)));
    EXPECT_EQ(plan.after, expected.after);
  }
}

// With the expected numbers, MXNet's outputs for a seed are reproduced row for row.
TEST(RecordSampler, chunk_positions_count_from_the_row_at_which_the_chunk_was_read) {
  RecordSampler sampler(order_of(10, {.batch_size = 3}),
                        {.batch_size = 3, .chunk_positions = true});
  EXPECT_THAT(positions_of(*sampler.next()), ElementsAre(0, 1, 2));
  EXPECT_THAT(positions_of(*sampler.next()), ElementsAre(3, 4, 5));
  EXPECT_THAT(positions_of(*sampler.next()), ElementsAre(6, 7, 8));
  EXPECT_THAT(positions_of(*sampler.next()), ElementsAre(9, 1, 2));
  EXPECT_THAT(positions_of(*sampler.next()), ElementsAre(3, 4, 5));
}

TEST(RecordSampler, chunk_positions_with_an_index_are_the_rows) {
  RecordSampler sampler(order_of(10, {.indexed = true, .batch_size = 3}),
                        {.batch_size = 3, .chunk_positions = true});
  for (int batch = 0; batch < 9; ++batch) {
    EXPECT_THAT(positions_of(*sampler.next()), ElementsAre(0, 1, 2));
  }
}

TEST(RecordSampler, chunk_positions_of_a_shuffled_chunk_are_places_before_the_shuffle) {
  const auto order = order_of(6, {.shuffle = true, .batch_size = 3});
  RecordSampler sampler(order, {.batch_size = 3, .chunk_positions = true});
  const BatchPlan plan = *sampler.next();
  for (const Entry& entry : plan.entries) EXPECT_THAT(entry.position, Eq(3 + entry.record));
}

}  // namespace
}  // namespace fuelrail::mxnet
