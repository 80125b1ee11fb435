#include "fuelrail/transform/transform.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "fuelrail/base/error.h"

namespace fuelrail {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string refusal(const Transforms& transforms) {
  try {
    check(transforms);
  } catch (const InvalidArgumentError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Check, usual_lists_are_accepted) {
  const Normalize normalize{{0.5f, 0.5f, 0.5f}, {0.2f, 0.2f, 0.2f}};
  EXPECT_EQ(refusal({}), "accepted");
  EXPECT_EQ(refusal({RandomResizedCrop{.size = {224, 224}}, HorizontalFlip{}, normalize}),
            "accepted");
  EXPECT_EQ(refusal({ResizedCenterCrop{.size = {1, 32768}}, VerticalFlip{1.0}}), "accepted");
  EXPECT_EQ(refusal({Resize{.shorter_side = 256}, CenterCrop{{224, 224}}, HorizontalFlip{0.0}}),
            "accepted");
  EXPECT_EQ(refusal({RandomResizedCrop{.size = {8, 8}, .scale = {0.0, 2.0}, .ratio = {1, 1}}}),
            "accepted");
}

TEST(Check, refusal_names_the_place_the_transform_and_the_value) {
  EXPECT_THAT(refusal({HorizontalFlip{}, CenterCrop{{224, 0}}}),
              AllOf(HasSubstr("transform 1"), HasSubstr("CenterCrop"), HasSubstr("width 0")));
  EXPECT_EQ(refusal({VerticalFlip{1.5}}),
            "transform VerticalFlip: p is out of range: expected a number from 0 to 1, found 1.5");
}

TEST(Check, sizes_out_of_range_are_refused) {
  EXPECT_THAT(refusal({CenterCrop{{-1, 5}}}), HasSubstr("height -1"));
  EXPECT_THAT(refusal({CenterCrop{{5, 32769}}}), HasSubstr("32769"));
  EXPECT_THAT(refusal({RandomResizedCrop{}}), HasSubstr("height 0"));
  EXPECT_THAT(refusal({Resize{}}), HasSubstr("height 0"));
  EXPECT_THAT(refusal({Resize{.shorter_side = -4}}), HasSubstr("-4"));
  EXPECT_THAT(refusal({Resize{.shorter_side = 40000}}), HasSubstr("40000"));
  EXPECT_THAT(refusal({ResizedCenterCrop{.size = {5, 5}, .resize = -1}}), HasSubstr("resize"));
}

TEST(Check, resize_with_both_size_and_shorter_side_is_refused) {
  EXPECT_THAT(refusal({Resize{.size = {5, 6}, .shorter_side = 7}}), HasSubstr("both"));
}

TEST(Check, empty_and_negative_ranges_are_refused) {
  const auto crop = [](std::array<double, 2> scale, std::array<double, 2> ratio) {
    return refusal({RandomResizedCrop{.size = {8, 8}, .scale = scale, .ratio = ratio}});
  };
  EXPECT_THAT(crop({1.0, 0.5}, {1, 1}), AllOf(HasSubstr("scale"), HasSubstr("(1, 0.5)")));
  EXPECT_THAT(crop({-0.1, 0.5}, {1, 1}), HasSubstr("scale"));
  EXPECT_THAT(crop({0.0, 0.0}, {1, 1}), HasSubstr("scale"));
  EXPECT_THAT(crop({0.1, kInfinity}, {1, 1}), HasSubstr("scale"));
  EXPECT_THAT(crop({0.1, kNan}, {1, 1}), HasSubstr("scale"));
  EXPECT_THAT(crop({0.1, 1}, {2, 1}), HasSubstr("ratio"));
  EXPECT_THAT(crop({0.1, 1}, {0, 1}), HasSubstr("ratio"));
  EXPECT_THAT(crop({0.1, 1}, {kNan, 1}), HasSubstr("ratio"));
}

TEST(Check, probabilities_outside_0_to_1_are_refused) {
  EXPECT_THAT(refusal({HorizontalFlip{-0.1}}), HasSubstr("-0.1"));
  EXPECT_THAT(refusal({HorizontalFlip{1.0001}}), HasSubstr("1.0001"));
  EXPECT_THAT(refusal({HorizontalFlip{kNan}}), HasSubstr("nan"));
}

TEST(Check, std_of_zero_and_values_that_are_not_finite_are_refused) {
  EXPECT_THAT(refusal({Normalize{{}, {1, 0, 1}}}), HasSubstr("std"));
  EXPECT_THAT(refusal({Normalize{{}, {1, kNan, 1}}}), HasSubstr("std"));
  EXPECT_THAT(refusal({Normalize{{0, 0, kNan}, {1, 1, 1}}}), HasSubstr("mean"));
}

TEST(Check, normalize_that_is_not_last_is_refused) {
  EXPECT_THAT(refusal({Normalize{}, HorizontalFlip{}}),
              AllOf(HasSubstr("last"), HasSubstr("HorizontalFlip")));
  EXPECT_THAT(refusal({Normalize{}, Normalize{}}), HasSubstr("last"));
}

TEST(Check, a_list_has_256_transforms_at_most) {
  EXPECT_EQ(refusal(Transforms(256, HorizontalFlip{})), "accepted");
  EXPECT_THAT(refusal(Transforms(257, HorizontalFlip{})),
              HasSubstr("the list has too many transforms: expected at most 256, found 257"));
}

TEST(Check, bad_values_of_pads_warps_and_colours_are_refused) {
  EXPECT_EQ(refusal({RandomCrop{.size = {32, 32}, .padding = {4, 4, 4, 4}}, ColorJitter{}}),
            "accepted");
  EXPECT_THAT(refusal({Pad{{-1, 0, 0, 0}}}), AllOf(HasSubstr("Pad"), HasSubstr("-1")));
  EXPECT_THAT(refusal({RandomCrop{.size = {0, 3}}}), HasSubstr("height 0"));
  EXPECT_THAT(refusal({RandomRotation{.degrees = {5, -5}}}), HasSubstr("degrees"));
  EXPECT_THAT(refusal({RandomRotation{.degrees = {0, kNan}}}), HasSubstr("degrees"));
  EXPECT_THAT(refusal({RandomRotation{.interpolation = Interpolation::kBicubic}}),
              HasSubstr("bicubic"));
  EXPECT_THAT(refusal({RandomAffine{.border = {PaddingMode::kReflect}}}), HasSubstr("edge"));
  EXPECT_THAT(refusal({RandomAffine{.translate = {0.5, 1.5}}}), HasSubstr("1.5"));
  EXPECT_THAT(refusal({RandomAffine{.scale = {0, 1}}}), HasSubstr("scale"));
  EXPECT_THAT(refusal({RandomAffine{.shear = {-90, 0, 0, 0}}}), HasSubstr("shear"));
  EXPECT_THAT(refusal({RandomAffine{.center = {{kNan, 0}}}}), HasSubstr("center"));
  EXPECT_THAT(refusal({ColorJitter{.brightness = {-0.5, 1}}}), HasSubstr("brightness"));
  EXPECT_THAT(refusal({ColorJitter{.contrast = {1, kInfinity}}}), HasSubstr("contrast"));
  EXPECT_THAT(refusal({ColorJitter{.saturation = {2, 1}}}), HasSubstr("saturation"));
  EXPECT_THAT(refusal({ColorJitter{.hue = {-0.6, 0}}}), HasSubstr("hue"));
  EXPECT_THAT(refusal({RandomGrayscale{2}}), HasSubstr("RandomGrayscale"));
  EXPECT_THAT(refusal({CustomStage{}}), HasSubstr("the stage is missing"));
}

TEST(Check, bad_values_of_the_transforms_for_detection_are_refused) {
  EXPECT_EQ(refusal({RandomIoUCrop{}, RandomZoomOut{}, ScaleJitter{.target = {640, 640}},
                     RandomShortestSize{.min_size = {480, 512}, .max_size = 300},
                     Resize{.shorter_side = 30, .max_size = 31}, Resize{.max_size = 9}}),
            "accepted");
  EXPECT_THAT(refusal({Resize{.shorter_side = 30, .max_size = 30}}),
              HasSubstr("more than size, 30"));
  EXPECT_THAT(refusal({Resize{.size = {5, 6}, .max_size = 30}}), HasSubstr("max_size"));
  EXPECT_THAT(refusal({Resize{.max_size = -1}}), HasSubstr("max_size"));
  EXPECT_THAT(refusal({RandomShortestSize{}}), HasSubstr("min_size is empty"));
  EXPECT_THAT(refusal({RandomShortestSize{.min_size = {8, 0}}}), HasSubstr("min_size"));
  EXPECT_THAT(refusal({ScaleJitter{.target = {0, 8}}}), HasSubstr("target_size"));
  EXPECT_THAT(refusal({ScaleJitter{.target = {8, 8}, .scale_range = {0, 1}}}),
              HasSubstr("scale_range"));
  EXPECT_THAT(refusal({ScaleJitter{.target = {8, 8}, .scale_range = {1, 1e9}}}),
              HasSubstr("at most 32768"));
  EXPECT_THAT(refusal({RandomZoomOut{.side_range = {0.5, 2}}}), HasSubstr("side_range"));
  EXPECT_THAT(refusal({RandomZoomOut{.p = 2}}), HasSubstr("p is out of range"));
  EXPECT_THAT(refusal({RandomIoUCrop{.scale = {0.5, 1.5}}}), HasSubstr("scale"));
  EXPECT_THAT(refusal({RandomIoUCrop{.aspect_ratio = {2, 1}}}), HasSubstr("aspect_ratio"));
  EXPECT_THAT(refusal({RandomIoUCrop{.sampler_options = {}}}), HasSubstr("sampler_options"));
  EXPECT_THAT(refusal({RandomIoUCrop{.sampler_options = {kNan}}}), HasSubstr("sampler_options"));
  EXPECT_THAT(refusal({RandomIoUCrop{.trials = 501}}), HasSubstr("trials"));
}

TEST(Resized, longer_side_is_cut_off_as_torchvision_does) {
  EXPECT_EQ(resized({.shorter_side = 256}, {375, 500}), (Size{256, 341}));
  EXPECT_EQ(resized({.shorter_side = 256}, {500, 375}), (Size{341, 256}));
  EXPECT_EQ(resized({.shorter_side = 7}, {3, 3}), (Size{7, 7}));
  EXPECT_EQ(resized({.size = {5, 9}}, {375, 500}), (Size{5, 9}));
}

TEST(Resized, max_size_bounds_the_longer_side_as_in_torchvision) {
  EXPECT_EQ(resized({.shorter_side = 256, .max_size = 400}, {375, 500}), (Size{256, 341}));
  EXPECT_EQ(resized({.shorter_side = 256, .max_size = 300}, {375, 500}), (Size{225, 300}));
  EXPECT_EQ(resized({.shorter_side = 256, .max_size = 300}, {500, 375}), (Size{300, 225}));
  EXPECT_EQ(resized({.max_size = 300}, {375, 500}), (Size{225, 300}));
  EXPECT_EQ(resized({.max_size = 600}, {4000, 3}), (Size{600, 1}));
}

TEST(OutputSize, is_known_when_no_image_can_change_it) {
  EXPECT_EQ(output_size({}), std::nullopt);
  EXPECT_EQ(output_size({HorizontalFlip{}, Normalize{}}), std::nullopt);
  EXPECT_EQ(output_size({Resize{.shorter_side = 256}}), std::nullopt);
  EXPECT_EQ(output_size({Resize{.size = {5, 9}}}), (Size{5, 9}));
  EXPECT_EQ(output_size({RandomResizedCrop{.size = {7, 8}}, HorizontalFlip{}}), (Size{7, 8}));
  EXPECT_EQ(output_size({Resize{.shorter_side = 256}, CenterCrop{{20, 30}}}), (Size{20, 30}));
  EXPECT_EQ(output_size({CenterCrop{{20, 30}}, Resize{.shorter_side = 10}}), (Size{10, 15}));
  EXPECT_EQ(output_size({ResizedCenterCrop{.size = {4, 4}}}), (Size{4, 4}));
  EXPECT_EQ(output_size({RandomCrop{.size = {4, 5}}, ColorJitter{}}), (Size{4, 5}));
  EXPECT_EQ(output_size({RandomCrop{.size = {4, 5}}, Pad{{1, 2, 3, 4}}}), (Size{10, 9}));
  EXPECT_EQ(output_size({Pad{{1, 2, 3, 4}}}), std::nullopt);
  EXPECT_EQ(output_size({CenterCrop{{40, 20}}, Resize{.shorter_side = 40, .max_size = 60}}),
            (Size{60, 30}));
  for (const Transform& random :
       {Transform(RandomIoUCrop{}), Transform(RandomZoomOut{}), Transform(ScaleJitter{{8, 8}}),
        Transform(RandomShortestSize{{8}})}) {
    EXPECT_EQ(output_size({CenterCrop{{4, 5}}, random}), std::nullopt);
    EXPECT_EQ(needs_boxes({HorizontalFlip{}, random}),
              std::holds_alternative<RandomIoUCrop>(random));
  }
  EXPECT_EQ(output_size({CenterCrop{{4, 5}}, RandomRotation{}}), (Size{4, 5}));
  EXPECT_EQ(output_size({CenterCrop{{4, 5}}, RandomRotation{.expand = true}}), std::nullopt);
}

TEST(Normalization, is_the_last_transform_if_any) {
  EXPECT_FALSE(normalization({}));
  EXPECT_FALSE(normalization({HorizontalFlip{}}));
  const auto found = normalization({HorizontalFlip{}, Normalize{{1, 2, 3}, {4, 5, 6}}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->std[2], 6);
}

}  // namespace
}  // namespace fuelrail
