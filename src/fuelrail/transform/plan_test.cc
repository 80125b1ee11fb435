#include "fuelrail/transform/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/pillow_reference.h"
#include "fuelrail/testing/resolved_plan.h"
#include "fuelrail/transform/plan_runner.h"

namespace fuelrail {
namespace {

using testing::only_step;
using testing::PlainImage;
using testing::resolve_at;

PlainImage noise(Size size, uint32_t seed) {
  PlainImage image(size);
  std::mt19937 random(seed);
  for (uint8_t& byte : image.bytes) byte = static_cast<uint8_t>(1 + random() % 255);
  return image;
}

// Runs a plan as the loader does, on only the pixels that it needs.
PlainImage execute(const Plan& plan, const PlainImage& image) {
  const Box needed = needed_input(plan.steps.front());
  EXPECT_TRUE(needed.inside(image.size));
  EXPECT_GT(needed.height * needed.width, 0);
  PlainImage input = testing::pillow_crop(image, needed);
  PlanRunner runner;
  const ConstImageView made = runner.run(plan, input.view(), needed);
  EXPECT_EQ(made.size(), plan.output);
  PlainImage to(made.size());
  for (int64_t y = 0; y < made.height; ++y) {
    std::copy_n(made.row(y), made.width * 3, to.view().row(y));
  }
  return testing::flipped(to, plan.flip_horizontal, plan.flip_vertical);
}

// As numpy.pad, and as Image.crop for negative margins.
PlainImage windowed(const PlainImage& image, Box window, const Border& border) {
  PlainImage to(window.size());
  const auto place = [&](int64_t i, int64_t length) -> int64_t {
    if (i >= 0 && i < length) return i;
    if (border.mode == PaddingMode::kConstant) return -1;
    if (border.mode == PaddingMode::kEdge) return i < 0 ? 0 : length - 1;
    if (length == 1) return 0;
    const int64_t seam = border.mode == PaddingMode::kSymmetric ? 1 : 0;
    while (i < 0 || i >= length) i = i < 0 ? -i - seam : 2 * (length - 1) - i + seam;
    return i;
  };
  for (int64_t y = 0; y < window.height; ++y) {
    for (int64_t x = 0; x < window.width; ++x) {
      const int64_t from_y = place(window.top + y, image.size.height);
      const int64_t from_x = place(window.left + x, image.size.width);
      const bool fill = from_y < 0 || from_x < 0;
      for (size_t c = 0; c < 3; ++c) {
        to.at(y, x, static_cast<int64_t>(c)) =
            fill ? border.fill[c] : image.at(from_y, from_x, static_cast<int64_t>(c));
      }
    }
  }
  return to;
}

// Adds the row's number to its pixels and mirrors a third of all samples, so that its effect is
// recognisable.
class Shade final : public PixelStage {
 public:
  void apply(ConstImageView from, ImageView to, const StageRandom& random) const override {
    const auto add = static_cast<uint8_t>(random.below(0, 256));
    for (int64_t y = 0; y < from.height; ++y) {
      for (int64_t x = 0; x < from.width * 3; ++x) {
        to.row(y)[x] = static_cast<uint8_t>(from.row(y)[x] + y + add);
      }
    }
  }
};

// Every second row and column.
class Halve final : public PixelStage {
 public:
  Size output_size(Size input) const override {
    return {(input.height + 1) / 2, (input.width + 1) / 2};
  }
  void apply(ConstImageView from, ImageView to, const StageRandom&) const override {
    for (int64_t y = 0; y < to.height; ++y) {
      for (int64_t x = 0; x < to.width; ++x) {
        std::copy_n(from.row(2 * y) + 6 * x, 3, to.row(y) + 3 * x);
      }
    }
  }
};

// Applies one transform after another to whole images. Each is resolved separately, with the draws
// of its index in the list, to get its random parameters. No steps are merged or reordered.
PlainImage apply_one_by_one(const Transforms& transforms, PlainImage image, uint64_t position) {
  for (size_t i = 0; i < transforms.size(); ++i) {
    Transforms alone(i, HorizontalFlip{0.0});
    alone.push_back(transforms[i]);
    const Plan plan = resolve_at(alone, image.size, position);
    if (!plan.pixel_steps.empty()) {
      image = execute(plan, image);
      continue;
    }
    for (const ResampleStep& step : plan.steps) {
      image = testing::pillow_crop(image, step.box);
      image = testing::pillow_resize(image, step.scaled, step.interpolation, step.antialias);
      image = windowed(image, step.window, step.border);
    }
    image = testing::flipped(image, plan.flip_horizontal, plan.flip_vertical);
  }
  return image;
}

class RandomLists {
 public:
  explicit RandomLists(uint32_t seed) : random_(seed) {}

  int64_t below(int64_t bound) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(bound));
  }
  Size size() { return {1 + below(40), 1 + below(40)}; }
  Transform transform() {
    const auto filter = static_cast<Interpolation>(below(3));
    const bool antialias = below(3) != 0;
    switch (below(16)) {
      case 0:
      case 1:
        return CenterCrop{size()};
      case 2:
        return RandomResizedCrop{.size = size(), .interpolation = filter, .antialias = antialias};
      case 3:
        return Resize{.size = size(), .interpolation = filter, .antialias = antialias};
      case 4:
        return Resize{
            .shorter_side = 1 + below(30), .interpolation = filter, .antialias = antialias};
      case 5:
        return ResizedCenterCrop{.size = size(),
                                 .resize = below(3) == 0 ? 0 : 1 + below(40),
                                 .interpolation = filter,
                                 .antialias = antialias};
      case 6:
        return HorizontalFlip{0.7};
      case 7:
        return VerticalFlip{0.7};
      case 8:
      case 9:
        return Pad{margins(), border()};
      case 10:
        return RandomCrop{
            .size = size(), .padding = margins(), .pad_if_needed = true, .border = border()};
      case 11:
        return ColorJitter{.brightness = {0.5, 1.5}, .contrast = {0.5, 1.5}, .hue = {-0.3, 0.3}};
      case 12:
        return RandomGrayscale{0.5};
      case 13:
        return RandomRotation{.degrees = {-90, 90},
                              .interpolation = Interpolation::kBilinear,
                              .expand = below(3) == 0,
                              .border = {.fill = {1, 2, 3}}};
      case 14:
        return RandomAffine{.degrees = {-20, 20},
                            .translate = {0.3, 0.4},
                            .scale = {0.5, 2},
                            .shear = {-10, 10, -5, 5},
                            .border = {.mode = PaddingMode::kEdge}};
      default:
        if (below(2) == 0) return CustomStage{std::make_shared<Halve>()};
        return CustomStage{std::make_shared<Shade>()};
    }
  }
  Margins margins() { return {below(5), below(5), below(5) * below(8), below(5)}; }
  Border border() {
    const auto mode = static_cast<PaddingMode>(below(4));
    return {.mode = mode, .fill = {static_cast<uint8_t>(below(2)), 5, 6}};
  }
  Transforms list() {
    Transforms transforms;
    for (int64_t n = below(6); n > 0; --n) transforms.push_back(transform());
    return transforms;
  }

 private:
  std::mt19937 random_;
};

std::string describe(const Transforms& transforms) {
  std::string text;
  for (const Transform& transform : transforms) text += std::to_string(transform.index()) + " ";
  return text;
}

TEST(Resolve, merged_and_commuted_steps_give_the_pixels_of_one_by_one) {
  RandomLists random(11);
  for (uint64_t i = 0; i < 4000; ++i) {
    const PlainImage image = noise(random.size(), static_cast<uint32_t>(i));
    const Transforms transforms = random.list();
    const PlainImage expected = apply_one_by_one(transforms, image, i);
    const Plan plan = resolve_at(transforms, image.size, i);
    ASSERT_EQ(plan.output, expected.size) << i << ": " << describe(transforms);
    ASSERT_EQ(execute(plan, image), expected) << i << ": " << describe(transforms);
  }
}

TEST(Resolve, crops_after_crops_and_resizes_are_one_step) {
  const Size image{300, 400};
  EXPECT_EQ(only_step({}, image),
            (ResampleStep{.box = whole(image), .scaled = image, .window = whole(image)}));
  EXPECT_EQ(only_step({CenterCrop{{200, 200}}, CenterCrop{{100, 50}}}, image).window,
            (Box{100, 175, 100, 50}));
  const ResampleStep pair =
      only_step({Resize{.shorter_side = 256}, CenterCrop{{224, 224}}, HorizontalFlip{1}}, image);
  EXPECT_EQ(pair, only_step({ResizedCenterCrop{.size = {224, 224}}}, image));
  EXPECT_EQ(pair.scaled, (Size{256, 341}));
  EXPECT_EQ(pair.window, (Box{16, 58, 224, 224}));  // round(58.5) is 58
  const ResampleStep crop = only_step({CenterCrop{{200, 200}}, Resize{.size = {50, 50}}}, image);
  EXPECT_EQ(crop.box, (Box{50, 100, 200, 200}));
}

TEST(Resolve, a_resize_of_a_resize_stays_two_steps) {
  const Plan plan = resolve_at({Resize{.size = {50, 50}}, Resize{.size = {30, 30}}}, {100, 100}, 0);
  EXPECT_EQ(plan.steps.size(), 2u);
}

TEST(Resolve, padding_is_not_looked_through) {
  // The second crop is larger: the pixels that the first crop removed stay black.
  const Transforms transforms{CenterCrop{{10, 10}}, CenterCrop{{20, 20}}};
  const PlainImage image = noise({30, 30}, 1);
  const PlainImage to = execute(resolve_at(transforms, image.size, 0), image);
  EXPECT_EQ(to.at(0, 0, 0), 0);
  EXPECT_EQ(to.at(5, 5, 0), image.at(10, 10, 0));
}

TEST(Resolve, center_crop_rounds_as_torchvision) {
  // int(round((h - ch) / 2.0)): halves go to the even number.
  EXPECT_EQ(only_step({CenterCrop{{2, 4}}}, {5, 7}).window, (Box{2, 2, 2, 4}));
  EXPECT_EQ(only_step({CenterCrop{{4, 2}}}, {5, 3}).window, (Box{0, 0, 4, 2}));
  // Smaller images: (crop - size) // 2 black pixels first, the odd one at the end.
  EXPECT_EQ(only_step({CenterCrop{{8, 9}}}, {5, 6}).window, (Box{-1, -1, 8, 9}));
  EXPECT_EQ(only_step({CenterCrop{{8, 2}}}, {5, 6}).window, (Box{-1, 2, 8, 2}));
}

TEST(Resolve, resized_center_crop_resizes_to_eight_sevenths_by_default) {
  EXPECT_EQ(only_step({ResizedCenterCrop{.size = {224, 224}}}, {500, 500}).scaled,
            (Size{256, 256}));
  EXPECT_EQ(only_step({ResizedCenterCrop{.size = {100, 384}}}, {500, 500}).scaled,
            (Size{439, 439}));
  EXPECT_EQ(only_step({ResizedCenterCrop{.size = {224, 224}, .resize = 232}}, {600, 500}).scaled,
            (Size{278, 232}));
}

TEST(Resolve, flips_are_certain_at_one_and_never_at_zero) {
  for (uint64_t position = 0; position < 100; ++position) {
    const Plan plan = resolve_at({HorizontalFlip{1.0}, VerticalFlip{0.0}}, {4, 4}, position);
    ASSERT_TRUE(plan.flip_horizontal);
    ASSERT_FALSE(plan.flip_vertical);
  }
  const Plan twice = resolve_at({HorizontalFlip{1.0}, HorizontalFlip{1.0}}, {4, 4}, 0);
  EXPECT_FALSE(twice.flip_horizontal);
}

// Frozen: different numbers would change the epochs of every user.
TEST(Resolve, leaders_draw_apart_and_the_first_as_it_always_did) {
  const Transforms transforms{HorizontalFlip{}, RandomCrop{.size = {10, 10}}};
  const Philox random(7, 2, 12348);
  for (const auto& [leader, top, left, flip] :
       {std::tuple{0u, 750, 152, true}, {1u, 407, 290, false}, {126u, 823, 317, true}}) {
    Plan plan;
    resolve(transforms, {.image = {1000, 1000}, .random = random, .leader = leader}, plan);
    EXPECT_EQ(plan.steps.front().window, (Box{top, left, 10, 10})) << leader;
    EXPECT_EQ(plan.flip_horizontal, flip) << leader;
  }
}

TEST(Resolve, an_unaffordable_resize_is_refused) {
  const Transforms transforms{Resize{.shorter_side = 1024}};
  try {
    resolve_at(transforms, {2, 60000}, 0);
    FAIL();
  } catch (const UnsupportedError& error) {
    EXPECT_THAT(error.what(), ::testing::AllOf(::testing::HasSubstr("width 30720000"),
                                               ::testing::HasSubstr("178956970")));
  }
  // Its middle is affordable.
  EXPECT_EQ(
      only_step({Resize{.shorter_side = 1024}, CenterCrop{{224, 224}}}, {2, 60000}).scaled.width,
      30720000);
}

TEST(Resolve, geometry_in_front_of_other_transforms_is_resolved_before_decoding) {
  const Plan plan =
      resolve_at({RandomResizedCrop{.size = {8, 8}}, ColorJitter{.brightness = {0.5, 1.5}},
                  HorizontalFlip{1}, RandomRotation{.degrees = {-9, 9}}},
                 {40, 50}, 0);
  EXPECT_EQ(plan.steps.size(), 1u);
  ASSERT_EQ(plan.pixel_steps.size(), 3u);  // the flip commutes with colours, not with the rotation
  EXPECT_TRUE(std::holds_alternative<ColorStep>(plan.pixel_steps[0]));
  EXPECT_TRUE(std::holds_alternative<FlipStep>(plan.pixel_steps[1]));
  EXPECT_TRUE(std::holds_alternative<WarpStep>(plan.pixel_steps[2]));
  EXPECT_FALSE(plan.flip_horizontal);
  EXPECT_EQ(plan.output, (Size{8, 8}));
}

TEST(Resolve, a_crop_with_margins_is_one_step_that_decodes_what_it_shows) {
  for (const PaddingMode mode : {PaddingMode::kConstant, PaddingMode::kEdge}) {
    const RandomCrop crop{.size = {32, 32}, .padding = {4, 4, 4, 4}, .border = {mode}};
    for (uint64_t position = 0; position < 50; ++position) {
      const ResampleStep step = only_step({crop, HorizontalFlip{}}, {32, 32}, position);
      EXPECT_TRUE(step.copies());
      EXPECT_EQ(step.window.size(), (Size{32, 32}));
      EXPECT_TRUE(needed_input(step).inside({32, 32}));
    }
  }
  const Transforms pair{Resize{.size = {64, 64}}, RandomCrop{.size = {32, 32}}};
  const ResampleStep step = only_step(pair, {200, 300});
  EXPECT_EQ(step.scaled, (Size{64, 64}));
  EXPECT_EQ(step.window.size(), (Size{32, 32}));
}

// (Resampler's tests show that these pixels suffice: they pass no others.)
TEST(NeededInput, holds_every_row_with_a_weight_and_no_more_than_the_filter_touches) {
  RandomLists random(12);
  for (int i = 0; i < 3000; ++i) {
    const Size image = random.size();
    ResampleStep step;
    step.box = {random.below(image.height), random.below(image.width), 0, 0};
    step.box.height = 1 + random.below(image.height - step.box.top);
    step.box.width = 1 + random.below(image.width - step.box.left);
    step.scaled = random.size();
    step.window = {random.below(step.scaled.height), random.below(step.scaled.width), 0, 0};
    step.window.height = 1 + random.below(step.scaled.height - step.window.top);
    step.window.width = 1 + random.below(step.scaled.width - step.window.left);
    step.interpolation = random.below(2) == 0 ? Interpolation::kBilinear : Interpolation::kBicubic;
    step.mirror_vertical = random.below(2) == 0;

    const Box needed = needed_input(step);
    ASSERT_TRUE(needed.inside(image));
    // The rows that have a weight, according to the definition.
    int64_t first = step.box.height;
    int64_t last = -1;
    for (int64_t o = step.window.top; o < step.window.bottom(); ++o) {
      const int64_t output = step.mirror_vertical ? step.scaled.height - 1 - o : o;
      const std::vector<double> weights = testing::pillow_weights(
          step.box.height, step.scaled.height, output, step.interpolation, true);
      for (int64_t y = 0; y < step.box.height; ++y) {
        if (weights[static_cast<size_t>(y)] == 0.0) continue;
        const int64_t row = step.mirror_vertical ? step.box.height - 1 - y : y;
        first = std::min(first, row);
        last = std::max(last, row);
      }
    }
    ASSERT_LE(needed.top, step.box.top + first) << i;
    ASSERT_GE(needed.bottom(), step.box.top + last + 1) << i;
    // The outermost taps may have the weight 0: one of the triangle, two of the cubic.
    const int64_t zeros = step.interpolation == Interpolation::kBicubic ? 2 : 1;
    ASSERT_GE(needed.top, step.box.top + first - zeros) << i;
    ASSERT_LE(needed.bottom(), step.box.top + last + 1 + zeros) << i;
  }
}

TEST(NeededInput, of_the_validation_pair_is_the_crop_and_the_support) {
  const ResampleStep step = only_step({ResizedCenterCrop{.size = {224, 224}}}, {375, 500});
  const Box needed = needed_input(step);
  // Rows 16 to 239 of 256 at 1.4648 rows each, and one support of the triangle around.
  EXPECT_EQ(needed.top, 23);
  EXPECT_EQ(needed.bottom(), 352);
  EXPECT_EQ(needed_input(only_step({CenterCrop{{20, 30}}}, {100, 100})), (Box{40, 35, 20, 30}));
}

}  // namespace
}  // namespace fuelrail
