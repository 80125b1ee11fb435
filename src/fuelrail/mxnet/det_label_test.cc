#include "fuelrail/mxnet/det_label.h"

#include <gtest/gtest.h>

#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/mxnet/det_augmenter.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail::mxnet {
namespace {

using testing::refusal_of;

DetLabel label_of(const std::vector<float>& row) {
  DetLabel label;
  label.read(row);
  return label;
}

std::vector<float> row_of_label(const DetLabel& label) {
  std::vector<float> row;
  label.write(row);
  return row;
}

// Header of 3, objects of 6; the second has no area.
const std::vector<float> kTwo{3,    6,    99, 1,  0.25f, 0.5f, 0.75f, 1,    11,    2, 0.5f,
                              0.5f, 0.5f, 1,  12, 5,     0,    0,     0.5f, 0.25f, 13};

TEST(DetLabel, header_and_further_values_stay_and_objects_without_area_go) {
  EXPECT_EQ(row_of_label(label_of(kTwo)),
            (std::vector<float>{3, 6, 99, 1, 0.25f, 0.5f, 0.75f, 1, 11, 5, 0, 0, 0.5f, 0.25f, 13}));
}

TEST(DetLabel, mirror_exchanges_the_sides) {
  DetLabel label = label_of(kTwo);
  label.mirror();
  EXPECT_EQ(row_of_label(label),
            (std::vector<float>{3, 6, 99, 1, 0.25f, 0.5f, 0.75f, 1, 11, 5, 0.5f, 0, 1, 0.25f, 13}));
}

TEST(DetLabel, objects_shrink_in_a_larger_canvas) {
  DetLabel label = label_of({2, 5, 1, 0, 0, 1, 0.5f});
  label.enlarge({-0.5f, -1, 2, 2});
  EXPECT_EQ(row_of_label(label), (std::vector<float>{2, 5, 1, 0.25f, 0.5f, 0.75f, 0.75f}));
}

TEST(DetLabel, crop_keeps_objects_whose_centre_it_holds_and_cuts_them) {
  DetLabel label = label_of(kTwo);
  ASSERT_TRUE(label.crop({0.25f, 0.25f, 0.5f, 0.75f}, {}, CropEmitMode::kCenter, 0));
  const std::vector<float> row = row_of_label(label);
  ASSERT_EQ(row.size(), 9u);
  EXPECT_EQ(row[3], 1);
  EXPECT_EQ(row[4], 0);
  EXPECT_FLOAT_EQ(row[5], 1.0f / 3);
  EXPECT_EQ(row[6], 1);
  EXPECT_EQ(row[7], 1);
  EXPECT_EQ(row[8], 11);
}

TEST(DetLabel, crop_by_overlap_keeps_objects_above_the_threshold) {
  const DetBox half{0, 0, 0.5f, 1};
  DetLabel label = label_of({2, 5, 1, 0.25f, 0, 0.75f, 1, 2, 0, 0, 0.5f, 1});
  ASSERT_TRUE(label.crop(half, {}, CropEmitMode::kOverlap, 0.5f));
  EXPECT_EQ(row_of_label(label), (std::vector<float>{2, 5, 2, 0, 0, 1, 1}));
}

TEST(DetLabel, crop_that_leaves_no_object_changes_nothing) {
  DetLabel label = label_of(kTwo);
  const std::vector<float> before = row_of_label(label);
  EXPECT_FALSE(label.crop({0.9f, 0, 0.1f, 0.1f}, {}, CropEmitMode::kCenter, 0));
  EXPECT_EQ(row_of_label(label), before);
}

TEST(DetLabel, crop_must_be_within_the_limits_of_one_object) {
  const DetBox half{0, 0, 0.5f, 1};
  const std::vector<float> row{2, 5, 1, 0, 0, 0.25f, 1};  // covers half of the crop
  const auto fits = [&](const CropLimits& limits) {
    return label_of(row).crop(half, limits, CropEmitMode::kCenter, 0);
  };
  EXPECT_TRUE(fits({.min_overlap = 0.5f}));
  EXPECT_FALSE(fits({.min_overlap = 0.6f}));
  EXPECT_FALSE(fits({.max_overlap = 0.4f}));
  EXPECT_FALSE(fits({.min_sample_coverage = 0.6f}));
  EXPECT_FALSE(fits({.max_sample_coverage = 0.4f}));
  EXPECT_TRUE(fits({.min_object_coverage = 1}));
  EXPECT_FALSE(fits({.max_object_coverage = 0.9f}));
}

// One object that covers the whole image: 0.01 + 0.05 - 0.01 is above 0.05 in float32.
TEST(DetLabel, part_that_rounding_makes_larger_than_the_whole_is_outside_of_limits_as_in_mxnet) {
  const auto fits = [](const CropLimits& limits) {
    return label_of({2, 5, 1, 0, 0, 1, 1})
        .crop({0.01f, 0, 0.05f, 1}, limits, CropEmitMode::kOverlap, 0);
  };
  EXPECT_TRUE(fits({}));
  EXPECT_FALSE(fits({.min_sample_coverage = 0.5f}));
}

TEST(DetLabel, limits_must_all_hold_for_the_same_object) {
  // The first object is small and completely inside the crop; the second covers the crop.
  const std::vector<float> row{2, 5, 1, 0, 0, 0.25f, 0.0625f, 2, 0, 0, 1, 1};
  const auto fits = [&](const CropLimits& limits) {
    return label_of(row).crop({0, 0, 0.5f, 0.5f}, limits, CropEmitMode::kOverlap, 0.1f);
  };
  EXPECT_TRUE(fits({.min_sample_coverage = 0.9f}));
  EXPECT_TRUE(fits({.min_object_coverage = 0.9f}));
  EXPECT_FALSE(fits({.min_sample_coverage = 0.9f, .min_object_coverage = 0.9f}));
}

TEST(DetLabel, crop_holds_its_upper_left_edge_and_not_its_lower_right) {
  const std::vector<float> row{2, 5, 1, 0, 0, 0.25f, 0.25f};  // the centre is (1/8, 1/8)
  EXPECT_FALSE(label_of(row).crop({0, 0, 0.125f, 0.125f}, {}, CropEmitMode::kCenter, 0));
  EXPECT_TRUE(label_of(row).crop({0.125f, 0.125f, 0.25f, 0.25f}, {}, CropEmitMode::kCenter, 0));
}

TEST(DetLabel, label_of_a_header_alone_is_one) {
  EXPECT_EQ(label_of({7, 5, 1, 2, 3, 4, 5}).objects(), 0u);
}

TEST(DetLabel, label_without_objects_takes_every_crop) {
  DetLabel label = label_of({2, 5, 1, 0.5f, 0.5f, 0.5f, 0.5f});
  EXPECT_EQ(label.objects(), 0u);
  EXPECT_TRUE(label.crop({0, 0, 0.1f, 0.1f}, {.min_overlap = 1}, CropEmitMode::kCenter, 0));
}

TEST(DetLabel, row_that_is_no_label_is_an_error) {
  const auto refusal = [](const std::vector<float>& row) {
    return refusal_of<CorruptError>([&] { check_det_label(row); });
  };
  EXPECT_EQ(refusal({2, 5, 1, 0, 0, 1}),
            "the detection label is too short: expected at least 7 numbers (header width, object "
            "width and an object of 5 numbers), found 6");
  EXPECT_EQ(refusal({1, 5, 1, 0, 0, 1, 1}),
            "the detection label has an invalid header width: expected a whole number of at least "
            "2, found 1");
  EXPECT_EQ(refusal({2, 5.5f, 1, 0, 0, 1, 1}),
            "the detection label has an invalid object width: expected a whole number of at least "
            "5, found 5.5");
  EXPECT_EQ(
      refusal({2, 5, 1, 0, 0, 1, 1, 2}),
      "the length of the detection label does not match its header width and object width: "
      "expected a header of 2 numbers, then objects of 5 numbers each, found 8 numbers in total");
  EXPECT_THROW(check_det_label(std::vector<float>{1e30f, 5, 1, 0, 0, 1, 1}), CorruptError);
  EXPECT_THROW(check_det_label(std::vector<float>{9, 5, 1, 0, 0, 1, 1}), CorruptError);
}

}  // namespace
}  // namespace fuelrail::mxnet
