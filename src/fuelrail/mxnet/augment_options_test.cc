#include "fuelrail/mxnet/augment_options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/mxnet/record_options.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail::mxnet {
namespace {

using testing::refusal_of;

constexpr MxShape kShape{3, 24, 32};

std::string augment_refusal(const std::function<void(AugmentOptions&)>& set,
                            const MxShape& shape = kShape) {
  AugmentOptions options;
  set(options);
  return refusal_of<InvalidArgumentError>([&] { check(options, shape); });
}

TEST(AugmentOptions, defaults_are_accepted_for_one_three_and_four_channels) {
  for (const int64_t channels : {1, 3, 4}) check(AugmentOptions{}, {channels, 24, 32});
}

TEST(RecordIterOptions, data_shape_has_three_numbers) {
  RecordIterOptions options;
  const auto& table = RecordIterOptions::table(false);
  const auto shape =
      std::ranges::find(table.rows(), "data_shape", [](const auto& one) { return one.rule.name; });
  for (const auto& sides : {std::vector<int64_t>{24, 32}, {3, 24, 32, 1}}) {
    EXPECT_THROW(table.set(options, *shape, sides), InvalidArgumentError);
  }
  table.set(options, *shape, std::vector<int64_t>{3, 24, 32});
  EXPECT_EQ(options.data_shape, kShape);
}

TEST(AugmentOptions, shape_of_other_channels_or_sides_is_refused) {
  const auto none = [](AugmentOptions&) {};
  EXPECT_EQ(augment_refusal(none, {2, 24, 32}),
            "`data_shape[0]` is out of range: expected 1, 3 or 4 channels, found 2");
  EXPECT_EQ(augment_refusal(none, {3, 0, 32}),
            "`data_shape[1]` is out of range: expected a height of 1 to 32766 pixels, found 0");
  EXPECT_EQ(augment_refusal(none, {3, 24, 40000}),
            "`data_shape[2]` is out of range: expected a width of 1 to 32766 pixels, found 40000");
}

TEST(AugmentOptions, unknown_interpolation_is_refused_before_anything_is_resized) {
  for (const int64_t method : {-1, 5, 7, 8, 11}) {
    EXPECT_EQ(augment_refusal([&](AugmentOptions& options) { options.inter_method = method; }),
              "`inter_method` is out of range: expected 0, 1, 2, 3, 4, 9, 10, found " +
                  std::to_string(method));
  }
}

TEST(AugmentOptions, refusal_names_the_parameter) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::pair<std::string, std::function<void(AugmentOptions&)>>> wrong{
      {"resize", [](auto& options) { options.resize = 0; }},
      {"rotate", [](auto& options) { options.rotate = -30; }},
      {"max_rotate_angle", [](auto& options) { options.max_rotate_angle = -1; }},
      {"rotate_list",
       [](auto& options) {
         options.rotate_list = {10, 2000000};
       }},
      {"rotate_list",
       [](auto& options) { options.rotate_list = {std::numeric_limits<int64_t>::min()}; }},
      {"max_shear_ratio", [&](auto& options) { options.max_shear_ratio = nan; }},
      {"min_random_scale", [](auto& options) { options.min_random_scale = 0; }},
      {"max_random_scale", [&](auto& options) { options.max_random_scale = nan; }},
      {"max_random_scale", [](auto& options) { options.max_random_scale = 1e30f; }},
      {"max_aspect_ratio", [](auto& options) { options.max_aspect_ratio = 1; }},
      {"max_aspect_ratio", [](auto& options) { options.min_aspect_ratio = 0.5f; }},
      {"min_aspect_ratio", [](auto& options) { options.min_aspect_ratio = -1.0f; }},
      {"min_aspect_ratio",
       [](auto& options) {  // an area divided by this ratio is infinite
         options.min_aspect_ratio = std::numeric_limits<float>::denorm_min();
         options.max_aspect_ratio = 1;
       }},
      {"max_img_size", [](auto& options) { options.max_img_size = 0; }},
      {"min_img_size", [](auto& options) { options.min_img_size = 50000; }},
      {"fill_value", [](auto& options) { options.fill_value = 256; }},
      {"pad", [](auto& options) { options.pad = 20000; }},
      {"min_crop_size", [](auto& options) { options.min_crop_size = 4; }},
      {"max_crop_size",
       [](auto& options) { options.max_crop_size = 3, options.min_crop_size = 4; }},
      {"min_crop_size", [](auto& options) { options.max_crop_size = 4; }},
      {"brightness", [](auto& options) { options.brightness = -0.1f; }},
      {"contrast", [&](auto& options) { options.contrast = nan; }},
      {"saturation", [](auto& options) { options.saturation = -1; }},
      {"random_h", [](auto& options) { options.random_h = -1; }},
      {"random_s", [](auto& options) { options.random_s = 256; }},
      {"random_l", [](auto& options) { options.random_l = 1000; }},
      {"pca_noise", [&](auto& options) { options.pca_noise = nan; }},
  };
  for (const auto& [name, set] : wrong) {
    EXPECT_TRUE(augment_refusal(set).starts_with("`" + name + "` is out of range: ")) << name;
  }
}

TEST(AugmentOptions, random_resized_crop_excludes_other_crops_and_scales) {
  const std::vector<std::function<void(AugmentOptions&)>> excluded{
      [](auto& options) { options.rand_crop = true; },
      [](auto& options) { options.max_crop_size = options.min_crop_size = 20; },
      [](auto& options) { options.max_random_scale = 2; },
      [](auto& options) { options.min_random_scale = 0.5f; },
  };
  for (const auto& set : excluded) {
    const auto both = [&](AugmentOptions& options) {
      options.random_resized_crop = true;
      set(options);
    };
    EXPECT_TRUE(augment_refusal(both).starts_with("random_resized_crop cannot be combined with "));
  }
}

TEST(AugmentOptions, random_areas_are_fractions_in_order) {
  const auto areas = [](float low, float high) {
    return [=](AugmentOptions& options) {
      options.random_resized_crop = true;
      options.min_random_area = low;
      options.max_random_area = high;
    };
  };
  EXPECT_TRUE(augment_refusal(areas(0, 1)).starts_with("`min_random_area` "));
  EXPECT_TRUE(augment_refusal(areas(0.5f, 0.4f)).starts_with("`max_random_area` "));
  EXPECT_TRUE(augment_refusal(areas(0.5f, 1.5f)).starts_with("`max_random_area` "));
}

TEST(AugmentOptions, colours_need_three_channels) {
  for (const int64_t channels : {1, 4}) {
    for (const auto& set : std::vector<std::function<void(AugmentOptions&)>>{
             [](auto& options) { options.brightness = 0.5f; },
             [](auto& options) { options.random_h = 1; },
             [](auto& options) { options.pca_noise = 1; }}) {
      EXPECT_TRUE(augment_refusal(set, {channels, 24, 32}).starts_with("brightness, contrast, "));
    }
  }
}

class CroppingStage final : public PixelStage {
 public:
  Size output_size(Size input) const override { return {input.height - 1, input.width}; }
  void apply(ConstImageView, ImageView, const StageRandom&) const override {}
};

TEST(AugmentOptions, stage_that_changes_the_size_is_refused) {
  EXPECT_EQ(augment_refusal([](AugmentOptions& options) {
              options.stages = {std::make_shared<CroppingStage>()};
            }),
            "an item of `stages` changes the size of the image: expected height 24, width 32, "
            "found height 23, width 32");
}

}  // namespace
}  // namespace fuelrail::mxnet
