#include "fuelrail/split/dmlc_shuffle.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail::split {
namespace {

using Json = nlohmann::json;

const std::string kGolden = std::string(FUELRAIL_SOURCE_DIR) + "/tests/golden/mxnet/";

Json golden_order() { return Json::parse(file_contents(kGolden + "order.json")); }

// The labels of a part of image.rec in file order, as MXNet returned them.
std::vector<double> labels_of_part(const Json& order, const Json& run) {
  for (const Json& part : order["partitions"]) {
    if (part["rec"] == "image.rec" && part["idx"] == run["idx"] &&
        part["num_parts"] == run["num_parts"] && part["part_index"] == run["part_index"]) {
      return part["labels"];
    }
  }
  ADD_FAILURE() << "no such part";
  return {};
}

TEST(DmlcShuffle, orders_are_those_that_mxnet_delivers_epoch_after_epoch) {
  const Json order = golden_order();
  int runs = 0;
  for (const Json& run : order["shuffles"]) {
    if (!run.contains("seed") || run["batch_size"] != 1) continue;
    const std::vector<double> labels = labels_of_part(order, run);
    DmlcShuffle shuffle = DmlcShuffle::of_records(run["seed"]);
    for (const Json& epoch : run["epochs"]) {
      std::vector<double> delivered, expected;
      for (const Json& batch : epoch) delivered.push_back(batch[0]);
      for (const uint64_t i : shuffle.permutation(labels.size())) expected.push_back(labels[i]);
      EXPECT_EQ(delivered, expected) << run["seed"] << run["idx"] << run["num_parts"];
    }
    ++runs;
  }
  EXPECT_EQ(runs, 8);
}

TEST(DmlcShuffle, sub_parts_have_a_seed_of_their_own) {
  EXPECT_EQ(DmlcShuffle::of_sub_parts(1, 2, 3, 7).permutation(100),
            DmlcShuffle(666 + 1 + 2 + 3 + 7).permutation(100));
  EXPECT_EQ(DmlcShuffle::of_records(5).permutation(100), DmlcShuffle(116).permutation(100));
  EXPECT_EQ(DmlcShuffle::of_detection_records(5).permutation(100),
            DmlcShuffle(238).permutation(100));
  EXPECT_EQ(DmlcShuffle(-1).permutation(100), DmlcShuffle(0xFFFFFFFF).permutation(100));
}

TEST(DmlcShuffle, largest_seed_goes_round_to_the_least) {
  const int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(DmlcShuffle::of_records(most).permutation(100), DmlcShuffle(110).permutation(100));
}

TEST(DmlcShuffle, short_orders_draw_nothing) {
  DmlcShuffle shuffle(1), untouched(1);
  EXPECT_EQ(shuffle.permutation(0), std::vector<uint64_t>());
  EXPECT_EQ(shuffle.permutation(1), std::vector<uint64_t>{0});
  EXPECT_EQ(shuffle.permutation(50), untouched.permutation(50));
}

TEST(DmlcShuffle, numbers_stay_below_their_bound) {
  DmlcShuffle shuffle(3);
  for (const uint32_t bound : {1u, 2u, 3u, 1000u, 0x80000001u, 0xFFFFFFFFu}) {
    for (int i = 0; i < 1000; ++i) ASSERT_LT(shuffle.below(bound), bound);
  }
}

TEST(DmlcShuffle, more_records_than_the_generator_has_numbers_are_refused) {
  EXPECT_THROW(DmlcShuffle(1).permutation(uint64_t{1} << 32), UnsupportedError);
}

}  // namespace
}  // namespace fuelrail::split
