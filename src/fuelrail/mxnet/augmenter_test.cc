#include "fuelrail/mxnet/augmenter.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/mxnet/augment_plan.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail::mxnet {
namespace {

using testing::refusal_of;

// An image whose pixels differ, as far as 8-bit levels allow.
struct NumberedImage {
  NumberedImage(Size size, int64_t channels)
      : bytes(static_cast<size_t>(size.height * size.width * channels)) {
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 7 + i / 251);
    view = {bytes.data(), size.height, size.width, channels, size.width * channels};
  }
  std::vector<uint8_t> bytes;
  ConstImageView view;
};

std::vector<uint8_t> packed(ConstImageView image) {
  std::vector<uint8_t> bytes;
  for (int64_t y = 0; y < image.height; ++y) {
    const uint8_t* row = image.row(y);
    bytes.insert(bytes.end(), row, row + image.width * image.channels);
  }
  return bytes;
}

std::vector<uint8_t> augmented(const AugmentOptions& options, const MxShape& shape,
                               ConstImageView image, uint64_t sample = 0) {
  Augmenter augmenter(options, shape);
  CountedDraws draws(Philox(1, 0, sample));
  const ConstImageView result = augmenter.augment(image, draws);
  EXPECT_EQ(result.size(), shape.size());
  EXPECT_EQ(result.channels, shape.channels);
  return packed(result);
}

TEST(Augmenter, middle_is_cut_without_a_copy) {
  const NumberedImage image({40, 30}, 3);
  Augmenter augmenter({}, {3, 10, 20});
  CountedDraws draws(Philox(1, 0, 0));
  const ConstImageView result = augmenter.augment(image.view, draws);
  EXPECT_EQ(result.data, image.view.row(15) + 3 * 5);
}

TEST(Augmenter, only_what_is_needed_is_asked_for) {
  Augmenter cropping({}, {3, 10, 20});
  CountedDraws draws(Philox(1, 0, 0));
  EXPECT_EQ(cropping.plan({40, 30}, draws), (Box{15, 5, 10, 20}));
  AugmentOptions resize;
  resize.resize = 100;
  Augmenter resizing(resize, {3, 50, 50});
  const Box box = resizing.plan({400, 600}, draws);
  EXPECT_TRUE(box.contains({104, 204, 192, 192}));
  EXPECT_TRUE((Box{96, 196, 208, 208}).contains(box));
  AugmentOptions turned = resize;
  turned.rotate = 10;
  Augmenter turning(turned, {3, 50, 50});
  EXPECT_EQ(turning.plan({400, 600}, draws), whole(Size{400, 600}));
}

std::vector<AugmentOptions> geometries() {
  std::vector<AugmentOptions> all(1);
  for (const int64_t resize : {20, 33, 64}) {
    AugmentOptions options;
    options.resize = resize;
    options.rand_crop = true;
    all.push_back(options);
    options.rand_crop = false;
    options.random_resized_crop = true;
    options.min_random_area = 0.2f;
    options.max_aspect_ratio = 0.3f;
    all.push_back(options);
    options.resize = -1;
    options.inter_method = 10;
    all.push_back(options);
  }
  AugmentOptions squares;
  squares.min_crop_size = 10;
  squares.max_crop_size = 30;
  squares.inter_method = 9;
  all.push_back(squares);
  return all;
}

TEST(Augmenter, pixels_are_the_same_when_only_what_is_needed_is_decoded) {
  for (const int64_t channels : {1, 3, 4}) {
    const NumberedImage image({37, 52}, channels);
    for (const AugmentOptions& options : geometries()) {
      Augmenter augmenter(options, {channels, 24, 32});
      for (uint64_t sample = 0; sample < 4; ++sample) {
        CountedDraws draws(Philox(1, 0, sample));
        const std::vector<uint8_t> full = packed(augmenter.augment(image.view, draws));
        CountedDraws again(Philox(1, 0, sample));
        const Box box = augmenter.plan(image.view.size(), again);
        ASSERT_TRUE(box.inside(image.view.size()));
        EXPECT_EQ(packed(augmenter.run(image.view.crop(box), box, again)), full);
      }
    }
  }
}

TEST(Augmenter, alpha_is_empty_where_the_map_and_the_border_are) {
  const NumberedImage image({20, 20}, 4);
  AugmentOptions options;
  options.pad = 3;
  options.rotate = 45;
  options.fill_value = 90;
  const std::vector<uint8_t> pixels = augmented(options, {4, 26, 26}, image.view);
  EXPECT_EQ(std::vector<uint8_t>(pixels.begin(), pixels.begin() + 4),
            (std::vector<uint8_t>{90, 90, 90, 0}));
  const size_t corner = (3 * 26 + 3) * 4;  // of the rotated square
  EXPECT_EQ(std::vector<uint8_t>(pixels.begin() + corner, pixels.begin() + corner + 4),
            (std::vector<uint8_t>{90, 90, 90, 0}));
}

TEST(Augmenter, image_smaller_than_max_crop_size_is_refused) {
  AugmentOptions options;
  options.min_crop_size = options.max_crop_size = 30;
  const NumberedImage image({40, 20}, 3);
  EXPECT_EQ(
      refusal_of<InvalidArgumentError>([&] {
        augmented(options, {3, 8, 8}, image.view);
      }),
      "the image is smaller than `max_crop_size`: expected at least 30 pixels per side, found "
      "height 40, width 20. Set `resize` to enlarge small images, or use a smaller "
      "`max_crop_size`.");
}

TEST(Augmenter, image_that_would_grow_past_all_limits_is_refused) {
  const NumberedImage image({2, 400}, 3);
  AugmentOptions options;
  options.resize = 1000;
  EXPECT_EQ(refusal_of<InvalidArgumentError>([&] {
              augmented(options, {3, 8, 8}, image.view);
            }),
            "`resize` makes the longer side of the image too long: expected at most 32766 pixels, "
            "found height 1000, width 200000");
  AugmentOptions shrunk;
  shrunk.min_random_scale = shrunk.max_random_scale = 0.1f;
  EXPECT_EQ(refusal_of<InvalidArgumentError>([&] {
              augmented(shrunk, {3, 8, 8}, image.view);
            }),
            "the image size after the affine map is out of range: expected 1 to 32766 pixels per "
            "side, found height 0, width 40");
}

TEST(Augmenter, small_image_falls_back_from_random_resized_crop_to_the_middle) {
  const NumberedImage image({1, 1}, 3);
  AugmentOptions options;
  options.random_resized_crop = true;
  options.min_random_area = 0.01f;
  options.max_random_area = 0.02f;
  const std::vector<uint8_t> pixels = augmented(options, {3, 4, 4}, image.view);
  for (size_t i = 0; i < pixels.size(); ++i) EXPECT_EQ(pixels[i], image.bytes[i % 3]);
}

// Writes its random number and the number of the stage.
class WritingStage final : public PixelStage {
 public:
  explicit WritingStage(bool in_place) : in_place_(in_place) {}
  bool in_place() const override { return in_place_; }
  void apply(ConstImageView from, ImageView to, const StageRandom& random) const override {
    for (int64_t y = 0; y < to.height; ++y) {
      for (int64_t i = 0; i < to.width * 3; ++i) {
        to.row(y)[i] = static_cast<uint8_t>(from.row(y)[i] ^ random.bits(0));
      }
    }
  }

 private:
  bool in_place_;
};

TEST(Augmenter, stages_of_the_user_come_last_and_leave_the_source_alone) {
  const NumberedImage image({8, 8}, 3);
  const std::vector<uint8_t> before = image.bytes;
  AugmentOptions options;
  options.stages = {std::make_shared<WritingStage>(true), std::make_shared<WritingStage>(false)};
  const std::vector<uint8_t> pixels = augmented(options, {3, 8, 8}, image.view, 5);
  const Philox sample(1, 0, 5);
  const auto mask = static_cast<uint8_t>(sample.bits(1, 0) ^ sample.bits(2, 0));
  for (size_t i = 0; i < pixels.size(); ++i) EXPECT_EQ(pixels[i], before[i] ^ mask);
  EXPECT_EQ(image.bytes, before);
}

TEST(Augmenter, colours_leave_the_source_alone) {
  const NumberedImage image({8, 8}, 3);
  const std::vector<uint8_t> before = image.bytes;
  AugmentOptions options;
  options.brightness = options.contrast = options.saturation = 0.5f;
  options.random_h = options.random_s = options.random_l = 20;
  options.pca_noise = 0.1f;
  EXPECT_NE(augmented(options, {3, 8, 8}, image.view), before);
  EXPECT_EQ(image.bytes, before);
}

// The number of words that a plan draws.
uint32_t words_taken(const AugmentOptions& options, Size image, const MxShape& shape) {
  SeededDraws draws(1u);
  AugmentPlan plan;
  plan_augmentation(options, shape, image, draws, plan);
  const uint32_t next = draws.bits();
  SeededDraws counting(1u);
  for (uint32_t taken = 0; taken < 1000; ++taken) {
    if (counting.bits() == next) return taken;
  }
  return 1000;
}

TEST(AugmentPlan, steps_take_words_only_when_they_are_asked_for) {
  const Size image{60, 80};
  const MxShape shape{3, 32, 32};
  AugmentOptions options;
  EXPECT_EQ(words_taken(options, image, shape), 0u);
  options.inter_method = 10;  // the crop draws it even if nothing is enlarged
  EXPECT_EQ(words_taken(options, image, shape), 1u);
  options.resize = 40;
  EXPECT_EQ(words_taken(options, image, shape), 2u);
  options.rotate = 10;  // shear, angle, scale, aspect ratio, interpolation
  EXPECT_EQ(words_taken(options, image, shape), 7u);
  options.rand_crop = true;
  EXPECT_EQ(words_taken(options, image, shape), 9u);
  options.brightness = 0.1f;  // three factors, two swaps
  EXPECT_EQ(words_taken(options, image, shape), 14u);
  options.random_l = 3;
  EXPECT_EQ(words_taken(options, image, shape), 20u);
}

}  // namespace
}  // namespace fuelrail::mxnet
