#include "fuelrail/mxnet/det_augmenter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail::mxnet {
namespace {

using testing::refusal_of;

constexpr MxShape kSquare{3, 40, 40};

// A black image with one white box, which is the object in the label.
struct BoxImage {
  BoxImage(Size size, Box white)
      : bytes(static_cast<size_t>(size.height * size.width * 3)),
        view{bytes.data(), size.height, size.width, 3, size.width * 3} {
    for (int64_t y = white.top; y < white.bottom(); ++y) {
      std::fill_n(view.row(y) + 3 * white.left, 3 * white.width, uint8_t{255});
    }
    const auto part = [](int64_t at, int64_t of) {
      return static_cast<float>(at) / static_cast<float>(of);
    };
    label = {2,
             5,
             7,
             part(white.left, size.width),
             part(white.top, size.height),
             part(white.right(), size.width),
             part(white.bottom(), size.height)};
  }
  std::vector<uint8_t> bytes;
  ImageView view;
  std::vector<float> label;
};

// The white box in fractions of `used`: left, top, right, bottom.
std::vector<float> white_of(const DetImage& image) {
  Box box{image.used.height, image.used.width, 0, 0};
  int64_t bottom = 0;
  int64_t right = 0;
  for (int64_t y = 0; y < image.used.height; ++y) {
    for (int64_t x = 0; x < image.used.width; ++x) {
      if (image.image.row(y)[3 * x] < 200) continue;
      box.top = std::min(box.top, y);
      box.left = std::min(box.left, x);
      bottom = std::max(bottom, y + 1);
      right = std::max(right, x + 1);
    }
  }
  const auto width = static_cast<float>(image.used.width);
  const auto height = static_cast<float>(image.used.height);
  return {static_cast<float>(box.left) / width, static_cast<float>(box.top) / height,
          static_cast<float>(right) / width, static_cast<float>(bottom) / height};
}

// Expects, for many samples, that the label's box is where the white pixels are.
void expect_box_follows(const DetOptions& options, const MxShape& shape) {
  DetAugmenter augmenter(options, shape);
  for (uint64_t sample = 0; sample < 50; ++sample) {
    const BoxImage source({90, 120}, {30, 40, 30, 40});
    std::vector<float> label = source.label;
    CountedDraws draws(Philox(9, 0, sample));
    const DetImage image = augmenter.augment(source.view, label, draws);
    ASSERT_EQ(label.size(), 7u);
    const std::vector<float> white = white_of(image);
    for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(label[3 + i], white[i], 0.06) << sample;
  }
}

TEST(DetAugmenter, box_follows_the_image_through_mirror_pad_and_crop) {
  DetOptions options;
  options.inter_method = 0;
  options.rand_mirror_prob = 0.5f;
  expect_box_follows(options, kSquare);
  options.rand_pad_prob = 0.7f;
  options.max_pad_scale = 2;
  options.fill_value = 0;
  expect_box_follows(options, {3, 80, 80});
  options.rand_crop_prob = 0.8f;
  options.num_crop_sampler = 3;
  options.min_crop_scales = {0.5f, 0.6f, 0.7f};
  options.min_crop_aspect_ratios = {0.5f};
  options.max_crop_aspect_ratios = {2};
  expect_box_follows(options, {3, 120, 120});
  options.resize_mode = DetResizeMode::kFit;
  expect_box_follows(options, {3, 120, 90});
}

TEST(DetAugmenter, crop_satisfies_its_sampler_or_is_left_out) {
  DetOptions options;
  options.rand_crop_prob = 1;
  options.min_crop_scales = {0.1f};
  options.min_crop_object_coverages = {0.999f};  // the five other limits keep their defaults
  DetAugmenter augmenter(options, kSquare);
  for (uint64_t sample = 0; sample < 30; ++sample) {
    const BoxImage source({90, 120}, {30, 40, 30, 40});
    std::vector<float> label = source.label;
    CountedDraws draws(Philox(9, 0, sample));
    augmenter.augment(source.view, label, draws);
    ASSERT_EQ(label.size(), 7u);
    for (size_t i = 3; i < 7; ++i) {
      EXPECT_GT(label[i], -0.01f);
      EXPECT_LT(label[i], 1.01f);
    }
    EXPECT_GE((label[5] - label[3]) * (label[6] - label[4]), 30.0f * 40 / (90 * 120) * 0.99f);
  }
}

TEST(DetAugmenter, shrink_leaves_small_images_and_fit_enlarges_them) {
  const BoxImage source({20, 30}, {5, 5, 10, 10});
  const auto used = [&](DetResizeMode mode, const MxShape& shape) {
    DetOptions options;
    options.resize_mode = mode;
    DetAugmenter augmenter(options, shape);
    std::vector<float> label = source.label;
    CountedDraws draws(Philox(1, 0, 0));
    const DetImage image = augmenter.augment(source.view, label, draws);
    EXPECT_EQ(image.image.size(), shape.size());
    for (int64_t y = 0; y < shape.height; ++y) {
      for (int64_t x = 0; x < shape.width; ++x) {
        if (y >= image.used.height || x >= image.used.width) {
          EXPECT_EQ(image.image.row(y)[3 * x], 0);
        }
      }
    }
    return image.used;
  };
  EXPECT_EQ(used(DetResizeMode::kForce, kSquare), (Size{40, 40}));
  EXPECT_EQ(used(DetResizeMode::kShrink, kSquare), (Size{20, 30}));
  EXPECT_EQ(used(DetResizeMode::kShrink, {3, 15, 40}), (Size{15, 22}));
  EXPECT_EQ(used(DetResizeMode::kFit, kSquare), (Size{26, 40}));
}

TEST(DetAugmenter, colours_change_by_their_probabilities) {
  const BoxImage source({20, 20}, {0, 0, 20, 20});
  DetOptions options;
  options.max_random_contrast = 0.5f;
  options.random_contrast_prob = 0.5f;
  DetAugmenter augmenter(options, {3, 20, 20});
  int darker = 0;
  for (uint64_t sample = 0; sample < 400; ++sample) {
    std::vector<float> label = source.label;
    CountedDraws draws(Philox(4, 0, sample));
    if (augmenter.augment(source.view, label, draws).image.data[0] < 254) ++darker;
  }
  EXPECT_NEAR(darker, 100, 40);  // half of them change, and half of those get brighter
}

TEST(DetAugmenter, canvas_past_all_limits_is_refused) {
  DetOptions options;
  options.rand_pad_prob = 1;
  options.max_pad_scale = 1e6f;
  DetAugmenter augmenter(options, kSquare);
  const BoxImage source({90, 120}, {30, 40, 30, 40});
  std::vector<float> label = source.label;
  CountedDraws draws(Philox(9, 0, 0));
  EXPECT_TRUE(refusal_of<InvalidArgumentError>([&] {
                augmenter.augment(source.view, label, draws);
              }).starts_with("`max_pad_scale` makes the image too large: "));
}

// The result for an image of numbered levels with one object in the middle.
struct AugmentedLevels {
  std::vector<uint8_t> bytes;
  Size used;
  std::vector<float> label{2, 5, 1, 0.25f, 0.25f, 0.75f, 0.75f};
};

std::vector<uint8_t> numbered_levels(Size size, int64_t channels) {
  std::vector<uint8_t> levels(static_cast<size_t>(size.height * size.width * channels));
  for (size_t i = 0; i < levels.size(); ++i) levels[i] = static_cast<uint8_t>(1 + i * 7 % 250);
  return levels;
}

AugmentedLevels augment_levels(DetAugmenter& augmenter, Size size, int64_t channels, Draws& draws) {
  const std::vector<uint8_t> levels = numbered_levels(size, channels);
  AugmentedLevels result;
  const DetImage made =
      augmenter.augment({levels.data(), size.height, size.width, channels, size.width * channels},
                        result.label, draws);
  result.used = made.used;
  for (int64_t y = 0; y < made.image.height; ++y) {
    const uint8_t* row = made.image.row(y);
    result.bytes.insert(result.bytes.end(), row, row + made.image.width * channels);
  }
  return result;
}

AugmentedLevels augment_levels(const DetOptions& options, Size size, const MxShape& shape,
                               uint32_t seed = 1) {
  DetAugmenter augmenter(options, shape);
  SeededDraws draws(seed);
  return augment_levels(augmenter, size, shape.channels, draws);
}

TEST(DetAugmenter, image_of_the_shape_is_left_as_it_is) {
  for (const int64_t channels : {1, 3, 4}) {
    const AugmentedLevels made = augment_levels({}, {4, 6}, {channels, 4, 6});
    EXPECT_EQ(made.bytes, numbered_levels({4, 6}, channels));
    EXPECT_EQ(made.used, (Size{4, 6}));
    EXPECT_EQ(made.label, AugmentedLevels{}.label);
  }
}

TEST(DetAugmenter, side_that_would_vanish_keeps_a_pixel) {
  DetOptions options;
  options.resize_mode = DetResizeMode::kFit;
  EXPECT_EQ(augment_levels(options, {1, 100}, {3, 10, 10}).used, (Size{1, 10}));
}

TEST(DetAugmenter, padding_of_four_channels_is_transparent) {
  DetOptions options;
  options.rand_pad_prob = 1;
  options.max_pad_scale = 3;
  options.fill_value = 9;
  options.inter_method = 0;
  const AugmentedLevels made = augment_levels(options, {10, 10}, {4, 64, 64}, 3);
  EXPECT_EQ(std::vector<uint8_t>(made.bytes.begin(), made.bytes.begin() + 4),
            (std::vector<uint8_t>{9, 9, 9, 0}));
}

TEST(DetAugmenter, canvas_that_is_hardly_larger_is_not_made) {
  DetOptions options;
  options.rand_pad_prob = 1;
  options.max_pad_scale = 1.049f;
  const AugmentedLevels made = augment_levels(options, {40, 40}, {3, 40, 40});
  EXPECT_EQ(made.bytes, numbered_levels({40, 40}, 3));
  EXPECT_EQ(made.label, AugmentedLevels{}.label);
}

TEST(DetAugmenter, crop_without_a_pixel_is_tried_again) {
  DetOptions options;
  options.rand_crop_prob = 1;
  options.max_crop_scales = {0.3f};
  for (uint32_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(augment_levels(options, {3, 3}, {3, 3, 3}, seed).bytes, numbered_levels({3, 3}, 3));
  }
}

TEST(DetAugmenter, augmenter_is_used_again_for_images_of_other_sizes) {
  DetOptions options;
  options.rand_mirror_prob = 0.5f;
  options.rand_pad_prob = 0.5f;
  options.max_pad_scale = 2;
  options.resize_mode = DetResizeMode::kFit;
  const MxShape shape{3, 16, 24};
  DetAugmenter augmenter(options, shape);
  for (uint32_t i = 0; i < 12; ++i) {
    const Size size{5 + 3 * i, 40 - 3 * i};
    SeededDraws draws(i);
    const AugmentedLevels made = augment_levels(augmenter, size, 3, draws);
    const AugmentedLevels fresh = augment_levels(options, size, shape, i);
    EXPECT_EQ(made.bytes, fresh.bytes);
    EXPECT_EQ(made.label, fresh.label);
  }
}

TEST(DetAugmenter, label_that_is_none_is_an_error_and_stays_as_it_is) {
  DetAugmenter augmenter({}, kSquare);
  const BoxImage source({90, 120}, {30, 40, 30, 40});
  std::vector<float> label{1, 2, 3};
  CountedDraws draws(Philox(9, 0, 0));
  EXPECT_THROW(augmenter.augment(source.view, label, draws), CorruptError);
  EXPECT_EQ(label, (std::vector<float>{1, 2, 3}));
}

// The number of words drawn for an image of 20 x 20 pixels.
uint32_t det_words_taken(const std::function<void(DetOptions&)>& set) {
  class CountingDraws final : public Draws {
   public:
    uint32_t bits() override {
      ++taken;
      return 0x40000000;
    }
    Philox counted() const override { return {0, 0, 0}; }
    uint32_t taken = 0;
  };
  DetOptions options;
  set(options);
  DetAugmenter augmenter(options, {3, 20, 20});
  CountingDraws draws;
  augment_levels(augmenter, {20, 20}, 3, draws);
  return draws.taken;
}

TEST(DetAugmenter, numbers_are_drawn_only_for_what_is_on) {
  EXPECT_EQ(det_words_taken([](DetOptions&) {}), 0u);
  EXPECT_EQ(det_words_taken([](DetOptions& o) { o.rand_mirror_prob = 0.1f; }), 1u);
  EXPECT_EQ(det_words_taken([](DetOptions& o) { o.random_contrast_prob = 0.1f; }), 8u);
  EXPECT_EQ(det_words_taken([](DetOptions& o) { o.inter_method = 10; }), 1u);
  const auto pad = [](float probability, float scale) {
    return det_words_taken([&](DetOptions& o) {
      o.rand_pad_prob = probability;
      o.max_pad_scale = scale;
    });
  };
  EXPECT_EQ(pad(1, 1), 0u);  // a scale of 1 turns padding off
  EXPECT_EQ(pad(0.1f, 2), 1u);
  EXPECT_EQ(pad(1, 2), 4u);
}

TEST(DetAugmenter, samplers_that_fail_take_all_their_trials) {
  const auto never = [](DetOptions& o) {
    o.rand_crop_prob = 1;
    o.num_crop_sampler = 2;
    o.max_crop_scales = {0.3f};
    o.min_crop_overlaps = {0.99f};
    o.max_crop_trials = {3};
  };
  // Words: one for the probability, the order of the samplers, and four for each trial.
  EXPECT_EQ(det_words_taken(never), 1u + 1u + 2u * 3u * 4u);
  EXPECT_EQ(det_words_taken([&](DetOptions& o) {
              never(o);
              o.num_crop_sampler = 0;
            }),
            0u);
  DetOptions options;
  never(options);
  const AugmentedLevels made = augment_levels(options, {20, 20}, {3, 20, 20});
  EXPECT_EQ(made.bytes, numbered_levels({20, 20}, 3));
  EXPECT_EQ(made.label, AugmentedLevels{}.label);
}

TEST(DetRow, has_channels_size_and_length_in_front_and_padding_behind) {
  std::vector<float> row(4 + 9);
  const std::vector<float> label{2, 5, 1, 0, 0, 1, 1};
  write_det_row(3, {15, 22}, label, -1, row);
  EXPECT_EQ(row, (std::vector<float>{3, 15, 22, 7, 2, 5, 1, 0, 0, 1, 1, -1, -1}));
  EXPECT_EQ(refusal_of<InvalidArgumentError>([&] {
              write_det_row(3, {1, 1}, label, -1, std::span(row).first(10));
            }),
            "`label_pad_width` is smaller than the length of the record's label: expected at least "
            "7, found 6. Set label_pad_width to 0 to pad all labels to the length of the longest "
            "label.");
}

TEST(DetOptions, refusal_names_the_parameter) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::pair<std::string, std::function<void(DetOptions&)>>> wrong{
      {"inter_method", [](auto& options) { options.inter_method = 5; }},
      {"resize", [](auto& options) { options.resize = 0; }},
      {"max_random_hue", [](auto& options) { options.max_random_hue = -1; }},
      {"max_random_saturation", [](auto& options) { options.max_random_saturation = 256; }},
      {"max_random_illumination", [](auto& options) { options.max_random_illumination = -2; }},
      {"max_random_contrast", [&](auto& options) { options.max_random_contrast = nan; }},
      {"random_hue_prob", [&](auto& options) { options.random_hue_prob = nan; }},
      {"rand_mirror_prob", [&](auto& options) { options.rand_mirror_prob = nan; }},
      {"max_pad_scale", [&](auto& options) { options.max_pad_scale = nan; }},
      {"fill_value", [](auto& options) { options.fill_value = -1; }},
      {"num_crop_sampler", [](auto& options) { options.num_crop_sampler = 5000; }},
      {"max_crop_scales", [](auto& options) { options.max_crop_scales = {1.5f}; }},
      {"max_crop_scales", [](auto& options) { options.max_crop_scales = {0}; }},
      {"max_crop_overlaps", [](auto& options) { options.min_crop_overlaps = {1.5f}; }},
      {"max_crop_aspect_ratios", [](auto& options) { options.max_crop_aspect_ratios = {1e30f}; }},
      {"max_crop_trials", [](auto& options) { options.max_crop_trials = {100000}; }},
      {"min_crop_overlaps",
       [](auto& options) { options.num_crop_sampler = 0, options.min_crop_overlaps = {-1}; }},
      {"emit_overlap_thresh", [](auto& options) { options.emit_overlap_thresh = -1; }},
  };
  for (const auto& [name, set] : wrong) {
    DetOptions options;
    set(options);
    EXPECT_TRUE(refusal_of<InvalidArgumentError>([&] {
                  check(options, kSquare);
                }).starts_with("`" + name + "` is out of range: "))
        << name;
  }
}

TEST(DetOptions, lists_have_one_value_or_one_a_sampler) {
  DetOptions options;
  options.num_crop_sampler = 3;
  options.min_crop_scales = {0.1f, 0.2f, 0.3f};
  check(options, kSquare);
  options.min_crop_scales = {0.1f, 0.2f};
  EXPECT_EQ(refusal_of<InvalidArgumentError>([&] { check(options, kSquare); }),
            "`min_crop_scales` has the wrong number of values: expected 1 or 3 "
            "(num_crop_sampler), found 2. Give one value for all crop samplers, or one value for "
            "each of them.");
}

TEST(DetOptions, hue_needs_three_channels) {
  DetOptions options;
  options.max_random_hue = 10;
  options.random_hue_prob = 1;
  check(options, kSquare);
  EXPECT_TRUE(refusal_of<InvalidArgumentError>([&] {
                check(options, {1, 40, 40});
              }).starts_with("max_random_hue, max_random_saturation and "));
}

}  // namespace
}  // namespace fuelrail::mxnet
