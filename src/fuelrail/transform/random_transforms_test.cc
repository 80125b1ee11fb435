// The numbers that the random transforms draw: their frequency, their bounds, and that they never
// change.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <variant>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/resolved_plan.h"

namespace fuelrail {
namespace {

using testing::only_step;
using testing::resolve_at;

TEST(RandomCrop, reaches_every_place_of_the_image_with_margins) {
  std::vector<int> tops(9), lefts(9);
  for (uint64_t position = 0; position < 9000; ++position) {
    const Box window =
        only_step({RandomCrop{.size = {32, 32}, .padding = {4, 4, 4, 4}}}, {32, 32}, position)
            .window;
    ++tops[static_cast<size_t>(window.top + 4)];
    ++lefts[static_cast<size_t>(window.left + 4)];
  }
  for (size_t i = 0; i < 9; ++i) {
    EXPECT_NEAR(tops[i], 1000, 150);
    EXPECT_NEAR(lefts[i], 1000, 150);
  }
}

TEST(RandomCrop, an_image_that_is_too_small_is_an_error_or_is_padded_on_both_sides) {
  EXPECT_THROW(resolve_at({RandomCrop{.size = {8, 8}}}, {7, 9}, 0), InvalidArgumentError);
  for (uint64_t position = 0; position < 20; ++position) {
    const Box window =
        only_step({RandomCrop{.size = {8, 8}, .pad_if_needed = true}}, {6, 9}, position).window;
    EXPECT_GE(window.top, -2);  // two rows above, two below
    EXPECT_LE(window.bottom(), 8);
  }
}

TEST(ColorJitter, every_order_and_every_factor_of_its_range_comes_up) {
  std::map<std::vector<int>, int> orders;
  double least = 2, most = 0;
  for (uint64_t position = 0; position < 24000; ++position) {
    const Plan plan =
        resolve_at({ColorJitter{{0.5, 1.5}, {0.6, 1}, {0.6, 1}, {-0.1, 0.2}}}, {4, 4}, position);
    std::vector<int> order;
    for (const PixelStep& step : plan.pixel_steps) {
      const auto& color = std::get<ColorStep>(step);
      order.push_back(static_cast<int>(color.kind));
      if (color.kind != ColorStep::Kind::kBrightness) continue;
      least = std::min(least, color.amount);
      most = std::max(most, color.amount);
    }
    ++orders[order];
  }
  EXPECT_EQ(orders.size(), 24u);
  for (const auto& [order, count] : orders) EXPECT_NEAR(count, 1000, 150);
  EXPECT_NEAR(least, 0.5, 0.001);
  EXPECT_NEAR(most, 1.5, 0.001);
}

TEST(ColorJitter, a_range_of_one_factor_that_changes_nothing_is_left_out) {
  const Plan plan = resolve_at({ColorJitter{.contrast = {0.5, 0.5}}}, {4, 4}, 0);
  ASSERT_EQ(plan.pixel_steps.size(), 1u);
  EXPECT_EQ(std::get<ColorStep>(plan.pixel_steps[0]).kind, ColorStep::Kind::kContrast);
}

TEST(RandomResizedCrop, boxes_lie_inside_the_image_whatever_its_shape) {
  for (const Size image : {Size{1, 1}, Size{1, 500}, Size{500, 1}, Size{3, 2}, Size{375, 500}}) {
    for (uint64_t position = 0; position < 2000; ++position) {
      const Box box = only_step({RandomResizedCrop{.size = {8, 8}}}, image, position).box;
      ASSERT_TRUE(box.inside(image) && box.height > 0 && box.width > 0);
    }
  }
}

TEST(RandomResizedCrop, ten_failures_end_in_the_middle_with_a_ratio_in_range) {
  // Twice the area never fits.
  const auto middle = [](Size image, std::array<double, 2> ratio) {
    return only_step({RandomResizedCrop{.size = {8, 8}, .scale = {2, 3}, .ratio = ratio}}, image)
        .box;
  };
  EXPECT_EQ(middle({100, 100}, {0.75, 4.0 / 3}), (Box{0, 0, 100, 100}));
  EXPECT_EQ(middle({100, 300}, {0.75, 4.0 / 3}), (Box{0, 83, 100, 133}));
  EXPECT_EQ(middle({301, 100}, {0.75, 4.0 / 3}), (Box{84, 0, 133, 100}));
  EXPECT_EQ(middle({1000, 1}, {100, 200}), (Box{499, 0, 1, 1}));
}

// With parameters that always fit, the first try is taken: area and log ratio are uniform.
TEST(RandomResizedCrop, area_and_log_ratio_are_uniform) {
  constexpr int kDraws = 100000;
  constexpr int kBins = 20;
  const Size image{2000, 2000};
  std::vector<int> areas(kBins), ratios(kBins);
  for (uint64_t position = 0; position < kDraws; ++position) {
    const Box box =
        only_step({RandomResizedCrop{.size = {8, 8}, .scale = {0.1, 0.7}}}, image, position).box;
    const double area = static_cast<double>(box.height * box.width) / 4e6;
    const double ratio = std::log(static_cast<double>(box.width) / static_cast<double>(box.height));
    const double end = std::log(4.0 / 3.0);
    const auto bin = [](double part) {
      return static_cast<size_t>(std::clamp(part * kBins, 0.0, kBins - 1.0));
    };
    ++areas[bin((area - 0.1) / 0.6)];
    ++ratios[bin((ratio + end) / (2 * end))];
  }
  // 19 degrees of freedom: 43.8 is passed once in a thousand; the seed is fixed.
  const auto chi_square = [](const std::vector<int>& bins) {
    double sum = 0;
    for (const int count : bins) sum += std::pow(count - kDraws / kBins, 2) / (kDraws / kBins);
    return sum;
  };
  EXPECT_LT(chi_square(areas), 43.8);
  EXPECT_LT(chi_square(ratios), 43.8);
}

TEST(RandomResizedCrop, places_are_uniform_and_reach_both_ends) {
  constexpr int kDraws = 60000;
  const Transforms transforms{
      RandomResizedCrop{.size = {8, 8}, .scale = {0.25, 0.25}, .ratio = {1, 1}}};
  std::vector<int> tops(6), lefts(6);
  for (uint64_t position = 0; position < kDraws; ++position) {
    const Box box = only_step(transforms, {10, 10}, position).box;
    ASSERT_EQ(box.size(), (Size{5, 5}));
    ++tops[static_cast<size_t>(box.top)];
    ++lefts[static_cast<size_t>(box.left)];
  }
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(tops[i], kDraws / 6, 400);
    EXPECT_NEAR(lefts[i], kDraws / 6, 400);
  }
}

TEST(RandomResizedCrop, draws_depend_on_the_place_in_the_list) {
  const RandomResizedCrop crop{.size = {8, 8}};
  const Size image{375, 500};
  EXPECT_NE(only_step({crop}, image).box, only_step({HorizontalFlip{0}, crop}, image).box);
}

// Computed by an independent program in Python (Philox from the paper, math.log, math.exp and
// round). Frozen: a change here changes the augmented epochs of every user.
TEST(RandomResizedCrop, boxes_of_fixed_seeds_never_change) {
  const Transforms transforms{RandomResizedCrop{.size = {224, 224}}, HorizontalFlip{0.5}};
  struct Golden {
    uint64_t seed;
    uint32_t epoch;
    uint64_t position;
    Box box;
    bool flip;
  };
  const Golden goldens[] = {
      {1u, 0u, 0u, {5, 29, 367, 460}, false},
      {1u, 0u, 1u, {24, 64, 325, 403}, false},
      {1u, 0u, 2u, {99, 236, 236, 244}, true},
      {1u, 0u, 3u, {99, 236, 269, 232}, false},
      {1u, 1u, 0u, {50, 158, 151, 131}, true},
      {1u, 7u, 123456u, {1, 36, 367, 313}, true},
      {2u, 0u, 0u, {76, 81, 298, 297}, false},
      {0u, 0u, 0u, {85, 107, 260, 323}, false},
      {18446744073709551615u, 4294967295u, 1099511627776u, {10, 59, 309, 338}, true},
      {12345678901234u, 3u, 1281166u, {19, 124, 277, 275}, false},
  };
  for (const Golden& golden : goldens) {
    const Plan plan = resolve(
        transforms,
        {.image = {375, 500}, .random = Philox(golden.seed, golden.epoch, golden.position)});
    const Box& box = plan.steps.front().box;
    EXPECT_TRUE(box == golden.box && plan.flip_horizontal == golden.flip)
        << "{" << golden.seed << ", " << golden.epoch << ", " << golden.position << ", {" << box.top
        << ", " << box.left << ", " << box.height << ", " << box.width << "}, "
        << (plan.flip_horizontal ? "true" : "false") << "},";
  }
}

TEST(RandomShortestSize, resizes_by_one_factor_to_one_of_its_lengths_or_the_bound) {
  const Transforms transforms{RandomShortestSize{.min_size = {100, 200, 300}, .max_size = 500}};
  std::map<int64_t, int> sides;
  for (uint64_t position = 0; position < 3000; ++position) {
    const Size size = resolve_at(transforms, {400, 801}, position).output;
    ++sides[size.height];
    ASSERT_TRUE(size == (Size{100, 200}) || size == (Size{200, 400}) || size == (Size{249, 500}));
  }
  for (const auto& [side, count] : sides) EXPECT_NEAR(count, 1000, 150) << side;
}

TEST(ScaleJitter, factors_are_uniform_around_the_size_that_fits) {
  const Transforms transforms{ScaleJitter{.target = {100, 200}, .scale_range = {0.5, 1.5}}};
  double least = 1e9, most = 0, sum = 0;
  for (uint64_t position = 0; position < 4000; ++position) {
    const Size size = resolve_at(transforms, {1000, 1000}, position).output;
    ASSERT_EQ(size.height, size.width);
    const auto side = static_cast<double>(size.height);
    least = std::min(least, side);
    most = std::max(most, side);
    sum += side;
  }
  EXPECT_EQ(least, 50);
  EXPECT_EQ(most, 149);
  EXPECT_NEAR(sum / 4000, 99.5, 1);
  const Transforms tiny{ScaleJitter{.target = {1, 1}, .scale_range = {0.1, 0.2}}};
  EXPECT_EQ(resolve_at(tiny, {9, 9}, 0).output, (Size{1, 1}));
}

TEST(RandomZoomOut, the_image_is_anywhere_on_a_canvas_of_the_same_shape) {
  const Transforms transforms{RandomZoomOut{.side_range = {1, 3}, .p = 0.5}};
  int64_t unchanged = 0, least = 0;
  for (uint64_t position = 0; position < 2000; ++position) {
    const ResampleStep step = only_step(transforms, {100, 200}, position);
    const Box& window = step.window;
    ASSERT_TRUE(step.copies() && window.contains({0, 0, 100, 200}));
    ASSERT_LE(std::abs(2 * window.height - window.width), 2);
    ASSERT_LE(window.height, 300);
    unchanged += window == (Box{0, 0, 100, 200}) ? 1 : 0;
    least = std::min(least, window.left);
  }
  EXPECT_NEAR(static_cast<double>(unchanged), 1000, 100);
  EXPECT_LT(least, -350);
}

Plan crop_around(const RandomIoUCrop& crop, const std::vector<Corners>& boxes, uint64_t position,
                 Size image = {300, 400}) {
  return resolve({crop}, {.image = image, .random = Philox(1, 0, position), .boxes = boxes});
}

TEST(RandomIoUCrop, shows_an_object_as_well_as_asked_and_removes_those_whose_middle_is_outside) {
  const std::vector<Corners> boxes{{20, 30, 120, 130}, {200, 100, 390, 290}};
  for (const double option : {0.0, 0.3, 0.7}) {
    const RandomIoUCrop crop{.sampler_options = {option}};
    for (uint64_t position = 0; position < 300; ++position) {
      const Plan plan = crop_around(crop, boxes, position);
      const Box& window = plan.steps.front().window;
      if (plan.removed == std::vector<uint8_t>{0, 0} && window.size() == (Size{300, 400})) continue;
      ASSERT_TRUE(window.inside({300, 400}));
      const double aspect = static_cast<double>(window.width) / static_cast<double>(window.height);
      ASSERT_TRUE(aspect >= 0.5 && aspect <= 2);
      double best = 0;
      for (size_t i = 0; i < 2; ++i) {
        const Corners& b = boxes[i];
        const double x = (b.x1 + b.x2) / 2, y = (b.y1 + b.y2) / 2;
        const auto left = static_cast<double>(window.left), top = static_cast<double>(window.top);
        const auto right = static_cast<double>(window.right());
        const auto bottom = static_cast<double>(window.bottom());
        const bool inside = x > left && x < right && y > top && y < bottom;
        ASSERT_EQ(plan.removed[i], inside ? 0 : 1);
        if (!inside) continue;
        const double shared = (std::min(right, b.x2) - std::max(left, b.x1)) *
                              (std::min(bottom, b.y2) - std::max(top, b.y1));
        const double own = (b.x2 - b.x1) * (b.y2 - b.y1);
        best = std::max(best, shared / ((right - left) * (bottom - top) + own - shared));
      }
      ASSERT_GE(best, option);
    }
  }
}

TEST(RandomIoUCrop, leaves_the_image_if_asked_to_if_there_are_no_objects_or_if_nothing_fits) {
  const std::vector<Corners> box{{0, 0, 100, 100}};
  for (uint64_t position = 0; position < 20; ++position) {
    for (const Plan& plan :
         {crop_around({.sampler_options = {1.0}}, box, position),
          crop_around({.sampler_options = {0.0}}, {}, position),
          crop_around({.sampler_options = {0.99}}, {{{0, 0, 3, 3}}}, position)}) {
      EXPECT_EQ(plan.output, (Size{300, 400}));
      EXPECT_EQ(std::count(plan.removed.begin(), plan.removed.end(), 1), 0);
    }
  }
  EXPECT_EQ(crop_around({.scale = {0.3, 0.3}, .sampler_options = {0.0}}, box, 0, {2, 2}).output,
            (Size{2, 2}));
  EXPECT_THROW(resolve_at({RandomIoUCrop{}}, {300, 400}, 0), InvalidArgumentError);
}

TEST(RandomIoUCrop, counts_objects_as_the_transforms_before_it_left_them) {
  const std::vector<Corners> boxes{{0, 0, 40, 40}, {360, 0, 400, 40}, {150, 100, 250, 200}};
  const Transforms transforms{CenterCrop{{200, 200}}, HorizontalFlip{1},
                              RandomIoUCrop{.sampler_options = {0.0}}};
  for (uint64_t position = 0; position < 100; ++position) {
    const Plan plan = resolve(
        transforms, {.image = {300, 400}, .random = Philox(1, 0, position), .boxes = boxes});
    EXPECT_EQ(plan.removed, (std::vector<uint8_t>{0, 0, 0}));  // the others were not visible
    const Box& window = plan.steps.front().window;
    EXPECT_TRUE(window.left < 200 && window.right() > 200 && window.top < 150 &&
                window.bottom() > 150);
  }
}

// Frozen, as RandomResizedCrop's.
TEST(RandomIoUCrop, crops_of_fixed_seeds_never_change) {
  const std::vector<Corners> boxes{{20, 30, 120, 130}, {200, 100, 390, 290}};
  const Box expected[] = {{0, 0, 300, 400},
                          {106, 152, 149, 232},
                          {14, 115, 239, 275},
                          {0, 0, 300, 400},
                          {21, 79, 227, 305}};
  for (uint64_t position = 0; position < 5; ++position) {
    const Box w = crop_around({}, boxes, position).steps.front().window;
    EXPECT_EQ(w, expected[position])
        << "{" << w.top << ", " << w.left << ", " << w.height << ", " << w.width << "}";
  }
}

}  // namespace
}  // namespace fuelrail
