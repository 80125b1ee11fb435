#include "fuelrail/transform/map_runner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/resolved_plan.h"
#include "fuelrail/transform/coordinates.h"

namespace fuelrail {
namespace {

using testing::resolve_at;

// A map with the values value(x, y) of pixel centres.
struct Plane {
  Size size;
  std::vector<float> values;

  explicit Plane(Size s, const std::function<float(double, double)>& value) : size(s) {
    for (int64_t y = 0; y < s.height; ++y) {
      for (int64_t x = 0; x < s.width; ++x) {
        values.push_back(value(static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5));
      }
    }
  }
  float at(int64_t y, int64_t x) const { return values[static_cast<size_t>(y * size.width + x)]; }
};

Plane run_plan(const Plan& plan, const Plane& map, float fill) {
  const Box needed = needed_input(plan.steps.front());
  Plane to(plan.output, [](double, double) { return -1.0f; });
  const auto* data = map.values.data() + needed.top * map.size.width + needed.left;
  MapRunner().run(plan,
                  {reinterpret_cast<const std::byte*>(data), needed.height, needed.width, 1,
                   DType::kFloat32, map.size.width * 4},
                  needed, fill,
                  {reinterpret_cast<std::byte*>(to.values.data()), to.size.height, to.size.width, 1,
                   DType::kFloat32, to.size.width * 4});
  return to;
}

Plane moved_map(const Transforms& transforms, Size image, const Plane& map, float fill = -9) {
  Plan plan;
  follow(resolve_at(transforms, image, 0), image, map.size, Follower::kMap, plan);
  return run_plan(plan, map, fill);
}

const RandomRotation kTurn{.degrees = {30, 30}};

TEST(MapRunner, a_plane_stays_a_plane) {
  const Size image{60, 80};
  const Transforms lists[] = {
      {Resize{.size = {90, 200}}},
      {Resize{.size = {30, 30}, .interpolation = Interpolation::kBicubic}},
      {CenterCrop{{40, 50}}, Resize{.size = {60, 80}, .antialias = false}, HorizontalFlip{1}},
      {HorizontalFlip{1}, VerticalFlip{1}, Resize{.size = {30, 70}}, Grayscale{}},
      {kTurn, Resize{.size = {60, 120}}},
  };
  const auto plane = [](double x, double y) { return static_cast<float>(3 * x + 2 * y + 1); };
  for (const Transforms& transforms : lists) {
    const Plane made = moved_map(transforms, image, Plane(image, plane));
    const Affine a = affine(resolve_at(transforms, image, 0));
    const double determinant = a[0] * a[4] - a[1] * a[3];
    int64_t judged = 0;
    for (int64_t y = 0; y < made.size.height; ++y) {
      for (int64_t x = 0; x < made.size.width; ++x) {
        const double dx = static_cast<double>(x) + 0.5 - a[2];
        const double dy = static_cast<double>(y) + 0.5 - a[5];
        const double from_x = (a[4] * dx - a[1] * dy) / determinant;
        const double from_y = (a[0] * dy - a[3] * dx) / determinant;
        // Near an edge, the plane continues with the edge's values.
        if (from_x < 18 || from_x > 62 || from_y < 14 || from_y > 46) continue;
        // A filter widened to shrink a map by a fraction is not quite symmetric.
        ASSERT_NEAR(made.at(y, x), plane(from_x, from_y), 0.3);
        ++judged;
      }
    }
    EXPECT_GT(judged, 100);
  }
}

TEST(MapRunner, border_and_map_never_mix) {
  const Size image{20, 30};
  const Transforms transforms{Pad{{3, 4, 5, 6}}, kTurn, Resize{.size = {28, 38}},
                              Pad{{1, 1, 1, 1}}};
  const Plane made = moved_map(transforms, image, Plane(image, [](double, double) { return 0.1f; }),
                               std::numeric_limits<float>::infinity());
  int64_t inside = 0;
  for (const float value : made.values) {
    if (value == 0.1f) ++inside;
    ASSERT_TRUE(value == 0.1f || std::isinf(value)) << value;
  }
  EXPECT_GT(inside, 300);
}

TEST(MapRunner, a_window_that_shows_only_border_reads_nothing) {
  const Size image{5, 5};
  const Plane map(image, [](double, double) { return 1.0f; });
  const Transforms transforms{RandomCrop{.size = {2, 2}, .padding = {9, 9, 9, 9}}};
  int64_t empty = 0;
  for (uint64_t position = 0; position < 60; ++position) {
    Plan plan;
    follow(resolve_at(transforms, image, position), image, image, Follower::kMap, plan);
    const Box needed = needed_input(plan.steps.front());
    const Plane input(needed.size(), [](double, double) { return 1.0f; });
    Plane made(plan.output, [](double, double) { return 0.0f; });
    MapRunner().run(
        plan,
        {reinterpret_cast<const std::byte*>(input.values.data()), needed.height, needed.width, 1,
         DType::kFloat32, needed.width * 4},
        needed, 7, {reinterpret_cast<std::byte*>(made.values.data()), 2, 2, 1, DType::kFloat32, 8});
    for (const float value : made.values) ASSERT_TRUE(value == 1 || value == 7);
    empty += made.values == std::vector<float>{7, 7, 7, 7} ? 1 : 0;
  }
  EXPECT_TRUE(empty > 20 && empty < 60);
}

TEST(MapRunner, a_crop_copies_values_and_their_neighbours_do_not_matter) {
  const Size image{6, 6};
  const auto values = [](double x, double y) {
    return x == 2.5 && y == 2.5 ? std::numeric_limits<float>::quiet_NaN()
                                : static_cast<float>(x + 10 * y);
  };
  const Plane made = moved_map({CenterCrop{{4, 4}}, VerticalFlip{1}}, image, Plane(image, values));
  EXPECT_TRUE(std::isnan(made.at(2, 1)));
  EXPECT_EQ(made.at(2, 2), values(3.5, 2.5));
  EXPECT_EQ(made.at(0, 0), values(1.5, 4.5));
}

TEST(MapRunner, a_map_of_another_size_gives_the_same_output) {
  const Size image{40, 60};
  const Transforms transforms{CenterCrop{{21, 31}}, Resize{.size = {42, 62}}, HorizontalFlip{1}};
  const auto in_image = [](double x, double y) { return static_cast<float>(x + 2 * y); };
  const Plane expected = moved_map(transforms, image, Plane(image, in_image));
  for (const double scale : {0.5, 2.0}) {
    const Size other{static_cast<int64_t>(40 * scale), static_cast<int64_t>(60 * scale)};
    const Plane map(other, [&](double x, double y) { return in_image(x / scale, y / scale); });
    const Plane made = moved_map(transforms, image, map);
    for (int64_t y = 4; y < 38; ++y) {
      for (int64_t x = 4; x < 58; ++x) ASSERT_NEAR(made.at(y, x), expected.at(y, x), 1e-3);
    }
  }
}

TEST(Follow, refuses_another_aspect_ratio) {
  const Size image{375, 500};
  const Plan leader = resolve_at({kTurn}, image, 0);
  Plan plan;
  follow(leader, image, {188, 250}, Follower::kMap, plan);
  follow(leader, image, {37, 50}, Follower::kMap, plan);
  EXPECT_THROW(follow(leader, image, {190, 250}, Follower::kMap, plan), CorruptError);
}

TEST(Follow, a_partner_keeps_filters_and_drops_colours_only_if_asked_to) {
  const Size image{40, 60};
  const Transforms transforms{ColorJitter{.brightness = {0.5, 0.6}}, HorizontalFlip{1},
                              Resize{.size = {20, 20}, .interpolation = Interpolation::kBicubic}};
  const Plan leader = resolve_at(transforms, image, 0);
  Plan plan;
  follow(leader, image, {80, 120}, Follower::kPartner, plan);
  EXPECT_EQ(plan.pixel_steps.size(), leader.pixel_steps.size());
  EXPECT_EQ(plan.steps.front().box, (Box{0, 0, 80, 120}));
  EXPECT_EQ(plan.steps.front().scaled, image);
  EXPECT_FALSE(plan.steps.front().copies());
  follow(leader, image, image, Follower::kUncoloredPartner, plan);
  EXPECT_EQ(plan.pixel_steps.size(), leader.pixel_steps.size() - 1);
  EXPECT_EQ(std::get<ResampleStep>(plan.pixel_steps.back()).interpolation, Interpolation::kBicubic);
  EXPECT_TRUE(plan.flip_horizontal);
}

}  // namespace
}  // namespace fuelrail
