#include "fuelrail/transform/coordinates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/refusal.h"
#include "fuelrail/testing/resolved_plan.h"

namespace fuelrail {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::resolve_at;

Affine affine_at(const Transforms& transforms, Size image) {
  return affine(resolve_at(transforms, image, 0));
}

Motion motion_of(const Transforms& transforms, Size image) {
  return {resolve_at(transforms, image, 0), image};
}

RandomRotation rotation(double degrees, bool expand = false) {
  return {.degrees = {degrees, degrees}, .expand = expand};
}

class ShiftsPixels final : public PixelStage {
 public:
  void apply(ConstImageView, ImageView, const StageRandom&) const override {}
};

class ChangesColours final : public PixelStage {
 public:
  bool moves_pixels() const override { return false; }
  void apply(ConstImageView, ImageView, const StageRandom&) const override {}
};

std::vector<Corners> moved(Motion motion, std::vector<Corners> boxes, std::vector<uint8_t>& kept,
                           const KeepRule& rule = {}, const std::vector<uint8_t>& removed = {}) {
  move_boxes(motion, rule, removed, boxes, kept);
  return boxes;
}

TEST(AffineOfAPlan, is_the_product_of_crops_resizes_pads_and_flips) {
  const Size image{100, 200};
  EXPECT_EQ(affine_at({}, image), kUnmoved);
  EXPECT_EQ(affine_at({CenterCrop{{40, 60}}}, image), (Affine{1, 0, -70, 0, 1, -30}));
  EXPECT_EQ(affine_at({Resize{.size = {50, 400}}}, image), (Affine{2, 0, 0, 0, 0.5, 0}));
  EXPECT_EQ(affine_at({Pad{{1, 2, 3, 4}}}, image), (Affine{1, 0, 1, 0, 1, 2}));
  EXPECT_EQ(affine_at({HorizontalFlip{1}}, image), (Affine{-1, 0, 200, 0, 1, 0}));
  EXPECT_EQ(affine_at({VerticalFlip{1}}, image), (Affine{1, 0, 0, 0, -1, 100}));
  EXPECT_EQ(affine_at({HorizontalFlip{1}, CenterCrop{{40, 60}}, Resize{.size = {80, 30}}}, image),
            (Affine{-0.5, 0, 65, 0, 2, -60}));
  EXPECT_EQ(affine_at({ColorJitter{.brightness = {0.5, 0.6}}, HorizontalFlip{1}}, image),
            (Affine{-1, 0, 200, 0, 1, 0}));
}

TEST(AffineOfAPlan, turns_as_warps_do) {
  // Counter-clockwise by a quarter: the right edge becomes the upper edge.
  EXPECT_EQ(affine_at({rotation(90, true)}, {100, 200}), (Affine{0, 1, 0, -1, 0, 200}));
  EXPECT_EQ(affine_at({rotation(180)}, {100, 200}), (Affine{-1, 0, 200, 0, -1, 100}));
  const Affine moved =
      affine_at({RandomAffine{.translate = {0.5, 0.5}, .scale = {2, 2}}}, {100, 200});
  EXPECT_DOUBLE_EQ(moved[0], 2);
  EXPECT_DOUBLE_EQ(moved[4], 2);
  EXPECT_EQ(std::round(moved[2]), moved[2]);  // shifts are whole pixels
}

TEST(AffineOfAPlan, is_refused_after_a_stage_that_moves_pixels) {
  const Transforms still{CustomStage{std::make_shared<ChangesColours>()}, HorizontalFlip{1}};
  EXPECT_EQ(affine_at(still, {10, 20}), (Affine{-1, 0, 20, 0, 1, 0}));
  const Transforms moving{CustomStage{std::make_shared<ShiftsPixels>()}};
  EXPECT_THROW(affine_at(moving, {10, 20}), UnsupportedError);
}

TEST(MoveBoxes, clips_to_the_output_and_drops_what_is_smaller_than_a_pixel) {
  const Motion motion = motion_of({CenterCrop{{40, 60}}}, {100, 200});
  std::vector<uint8_t> kept;
  const std::vector<Corners> boxes = moved(
      motion, {{60, 20, 100, 50}, {0, 0, 70.5, 40}, {0, 0, 10, 10}, {129, 69, 300, 300}}, kept);
  EXPECT_EQ(boxes[0], (Corners{0, 0, 30, 20}));
  EXPECT_EQ(boxes[1], (Corners{0, 0, 0.5, 10}));
  EXPECT_EQ(boxes[3], (Corners{59, 39, 60, 40}));
  EXPECT_THAT(kept, ElementsAre(1, 0, 0, 1));
}

TEST(MoveBoxes, a_least_area_refers_to_the_object_before_it_was_cut) {
  const Motion motion = motion_of({CenterCrop{{40, 60}}, Resize{.size = {80, 120}}}, {100, 200});
  const std::vector<Corners> boxes{{60, 30, 80, 40}, {61, 30, 81, 40}};
  std::vector<uint8_t> kept;
  moved(motion, boxes, kept, {.min_area = 0.51});
  EXPECT_THAT(kept, ElementsAre(0, 1));
  moved(motion, boxes, kept, {.min_size = 21});
  EXPECT_THAT(kept, ElementsAre(0, 0));
}

TEST(MoveBoxes, objects_that_are_not_visible_can_stay_with_an_empty_box) {
  const Motion motion = motion_of({CenterCrop{{40, 60}}}, {100, 200});
  std::vector<uint8_t> kept;
  const std::vector<Corners> boxes =
      moved(motion, {{0, 0, 10, 10}, {80, 40, 90, 50}, {80, 40, 90, 50}}, kept,
            {.keep_empty = true}, {0, 1, 0});
  EXPECT_EQ(boxes[0], (Corners{0, 0, 0, 0}));
  EXPECT_EQ(boxes[1], (Corners{15, 15, 15, 15}));
  EXPECT_EQ(boxes[2], (Corners{10, 10, 20, 20}));
  EXPECT_THAT(kept, ElementsAre(1, 1, 1));
}

TEST(MoveBoxes, what_an_earlier_step_cut_off_stays_cut_off) {
  std::vector<uint8_t> kept;
  const std::vector<Corners> boxes{{10, 10, 50, 50}, {0, 0, 20, 20}};
  std::vector<Corners> made =
      moved(motion_of({CenterCrop{{40, 40}}, Pad{{30, 30, 30, 30}}}, {100, 100}), boxes, kept);
  EXPECT_EQ(made[0], (Corners{30, 30, 50, 50}));
  EXPECT_THAT(kept, ElementsAre(1, 0));
  // Between two rotations, too: the crop cuts a rotated object.
  const Transforms turned{rotation(45), CenterCrop{{40, 40}}, Pad{{30, 30, 30, 30}}, rotation(-45)};
  made = moved(motion_of(turned, {100, 100}), {{0, 48, 100, 52}, {90, 48, 100, 52}}, kept);
  EXPECT_NEAR(made[0].x1, 50 - 20 * std::sqrt(2.0), 1e-9);
  EXPECT_NEAR(made[0].x2, 50 + 20 * std::sqrt(2.0), 1e-9);
  EXPECT_NEAR(made[0].y1, 48, 1e-9);
  EXPECT_THAT(kept, ElementsAre(1, 0));
}

TEST(MoveBoxes, a_rotated_box_is_the_hull_of_its_corners) {
  std::vector<uint8_t> kept;
  const std::vector<Corners> made =
      moved(motion_of({rotation(45)}, {100, 100}), {{40, 40, 60, 60}, {0, 0, 100, 2}}, kept);
  const double half = 10 * std::sqrt(2.0);
  EXPECT_NEAR(made[0].x1, 50 - half, 1e-9);
  EXPECT_NEAR(made[0].y2, 50 + half, 1e-9);
  // Only a corner of the long object is in the image, but the hull of all its corners is larger.
  EXPECT_THAT(kept, ElementsAre(1, 1));
}

TEST(Boxes, of_all_forms_are_read_and_written) {
  const Size image{100, 200};
  const CoordinateForm relative{.relative = true};
  const std::vector<std::pair<std::array<double, 4>, std::pair<BoxFormat, CoordinateForm>>> same{
      {{20, 30, 60, 50}, {BoxFormat::kXyxy, {}}},
      {{20, 30, 40, 20}, {BoxFormat::kXywh, {}}},
      {{40, 40, 40, 20}, {BoxFormat::kCxcywh, {}}},
      {{0.1, 0.3, 0.3, 0.5}, {BoxFormat::kXyxy, relative}},
      {{0.1, 0.3, 0.2, 0.2}, {BoxFormat::kXywh, relative}},
      {{0.2, 0.4, 0.2, 0.2}, {BoxFormat::kCxcywh, relative}},
      {{19.5, 29.5, 59.5, 49.5}, {BoxFormat::kXyxy, {.pixel_centers = true}}},
      {{39.5, 39.5, 40, 20}, {BoxFormat::kCxcywh, {.pixel_centers = true}}},
  };
  for (const auto& [numbers, form] : same) {
    std::vector<Corners> boxes;
    read_boxes(std::span<const double>(numbers), form.first, form.second, image, "boxes", boxes);
    EXPECT_NEAR(boxes[0].x1, 20, 1e-12);
    EXPECT_NEAR(boxes[0].y1, 30, 1e-12);
    EXPECT_NEAR(boxes[0].x2, 60, 1e-12);
    EXPECT_NEAR(boxes[0].y2, 50, 1e-12);
    std::array<float, 4> written{};
    write_boxes(boxes, form.first, form.second, image, std::span<float>(written));
    for (size_t i = 0; i < 4; ++i) EXPECT_FLOAT_EQ(written[i], static_cast<float>(numbers[i]));
  }
}

TEST(Boxes, that_are_inverted_or_not_finite_are_refused_with_field_and_row) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const auto& [bad, format] : {std::pair{std::array<float, 4>{5, 5, 4, 6}, BoxFormat::kXyxy},
                                    {std::array<float, 4>{5, 5, -1, 6}, BoxFormat::kXywh},
                                    {std::array<float, 4>{5, nan, 6, 6}, BoxFormat::kCxcywh}}) {
    std::vector<float> values{1, 1, 2, 2};
    values.insert(values.end(), bad.begin(), bad.end());
    std::vector<Corners> boxes;
    try {
      read_boxes(std::span<const float>(values), format, {}, {9, 9}, "cars.boxes", boxes);
      FAIL();
    } catch (const CorruptError& error) {
      EXPECT_THAT(error.what(), ::testing::AllOf(HasSubstr("'cars.boxes'"), HasSubstr("row 1"),
                                                 HasSubstr("leave out the object")));
    }
  }
}

TEST(Boxes, may_be_huge_but_not_so_huge_that_their_area_is_infinite) {
  const Size image{100, 200};
  const auto read = [&](double side) {
    std::vector<Corners> boxes;
    read_boxes(std::span<const double>(std::array{-side, -side, side, side}), BoxFormat::kXyxy, {},
               image, "boxes", boxes);
    return boxes;
  };
  std::vector<uint8_t> kept;
  const Motion motion = motion_of({Resize{.size = {300, 400}}, rotation(45)}, image);
  EXPECT_EQ(moved(motion, read(1e99), kept)[0], (Corners{0, 0, 400, 300}));
  EXPECT_THAT(kept, ElementsAre(1));
  moved(motion, read(1e99), kept, {.min_area = 1e-9});
  EXPECT_THAT(kept, ElementsAre(0));
  EXPECT_THROW(read(1e160), CorruptError);
}

TEST(MovePoints, outside_points_lose_their_visibility_and_absent_points_stay_zeros) {
  const Motion motion = motion_of({CenterCrop{{40, 60}}, HorizontalFlip{1}}, {100, 200});
  const std::vector<float> points{70, 30, 2, 69, 30, 2, 100, 50, 0, 130, 70, 1, 0, 0, 0, 0, 0, 1};
  std::vector<float> made(points.size());
  std::vector<uint8_t> shown;
  move_points(motion, {}, 3, std::span<const float>(points), std::span<float>(made), shown);
  EXPECT_THAT(made, ElementsAre(60, 0, 2, 61, 0, 0, 30, 20, 0, 0, 40, 1, 0, 0, 0, 130, -30, 0));
  EXPECT_THAT(shown, ElementsAre(1, 0, 0, 1, 0, 0));
  std::vector<uint8_t> kept{0, 0, 1};
  keep_seen(std::vector<uint8_t>{0, 1, 0, 0, 0, 0}, kept);
  EXPECT_THAT(kept, ElementsAre(1, 0, 1));

  std::vector<double> pair{0.5, 0.5};
  move_points(motion, {.relative = true, .pixel_centers = true}, 2, std::span<const double>(pair),
              std::span<double>(pair), shown);
  EXPECT_THAT(pair, ElementsAre((60 - 30.5 - 0.5) / 60, 0.5));
}

// The vectors of a map of one row after the transforms. `channels`: of each.
std::vector<float> moved_vectors(const Transforms& transforms, Size image, Size map,
                                 std::vector<float> vectors, int64_t channels = 2) {
  const auto pixels = static_cast<int64_t>(vectors.size()) / channels;
  const RawView view{reinterpret_cast<std::byte*>(vectors.data()),
                     1,
                     pixels,
                     channels,
                     DType::kFloat32,
                     pixels * channels * 4};
  move_vectors(motion_of(transforms, image), map, view);
  return vectors;
}

TEST(MoveVectors, vectors_are_scaled_mirrored_and_turned_but_not_shifted) {
  const Size image{100, 200};
  const std::vector<float> two{5, 3, 0, -1};
  const auto made = [&](const Transforms& transforms, Size map = {100, 200}) {
    return moved_vectors(transforms, image, map, two);
  };
  EXPECT_EQ(made({CenterCrop{{40, 60}}, Pad{{1, 2, 3, 4}}}), two);
  EXPECT_THAT(made({HorizontalFlip{1}}), ElementsAre(-5, 3, 0, -1));
  EXPECT_THAT(made({VerticalFlip{1}, Resize{.size = {50, 400}}}), ElementsAre(10, -1.5, 0, 0.5));
  EXPECT_THAT(made({rotation(90, true)}), ElementsAre(3, -5, -1, 0));
  // In pixels of a map that has half the image's size.
  EXPECT_THAT(made({HorizontalFlip{1}}, {50, 100}), ElementsAre(-10, 6, 0, -2));
}

TEST(MoveVectors, a_bad_number_does_not_spread_and_only_two_channels_are_vectors) {
  const Size image{100, 200};
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const Transforms flip{HorizontalFlip{1}};
  const std::vector<float> made = moved_vectors(flip, image, image, {nan, 3, infinity, 4});
  EXPECT_EQ(made[1], 3);
  EXPECT_EQ(made[2], -infinity);
  EXPECT_EQ(made[3], 4);
  EXPECT_THAT(moved_vectors(flip, image, image, {1, 2}, 1), ElementsAre(1, 2));
  EXPECT_THAT(moved_vectors({CenterCrop{{40, 60}}}, image, image, {1, 2, 3}, 3),
              ElementsAre(1, 2, 3));
  EXPECT_THAT(testing::refusal_of<UnsupportedError>([&] {
                moved_vectors(flip, image, image, {1, 2, 3}, 3);
              }),
              ::testing::AllOf(HasSubstr("found 3 channels"), HasSubstr("Set vectors=False")));
}

TEST(MoveCamera, points_are_projected_to_where_the_image_shows_them) {
  const Affine a =
      affine_at({CenterCrop{{40, 60}}, Resize{.size = {80, 60}}, rotation(30)}, {100, 200});
  const std::array<double, 12> camera{300, 0, 100, 5, 0, 300, 50, 6, 0, 0, 1, 7};
  const std::array<double, 4> point{0.1, 0.2, 3, 1};
  const auto project = [&](const std::array<double, 12>& matrix) {
    std::array<double, 3> sums{};
    for (size_t i = 0; i < 12; ++i) sums[i / 4] += matrix[i] * point[i % 4];
    return Point{sums[0] / sums[2], sums[1] / sums[2]};
  };
  for (const double centre : {0.0, 0.5}) {
    std::array<double, 12> made = camera;
    move_camera(a, centre > 0, 4, std::span<double>(made));
    const Point before = project(camera);
    const Point expected = mapped(a, {before.x + centre, before.y + centre});
    EXPECT_NEAR(project(made).x + centre, expected.x, 1e-9);
    EXPECT_NEAR(project(made).y + centre, expected.y, 1e-9);
  }
  std::array<float, 16> square{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 9, 9, 9, 9};
  move_camera({2, 0, 3, 0, 2, 4}, false, 4, std::span<float>(square));
  EXPECT_THAT(square, ElementsAre(2, 0, 3, 0, 0, 2, 4, 0, 0, 0, 1, 0, 9, 9, 9, 9));
}

TEST(CopyKept, rows_stay_in_order) {
  const std::array<int16_t, 6> rows{1, 2, 3, 4, 5, 6};
  const std::vector<uint8_t> kept{1, 0, 1};
  ASSERT_EQ(count_kept(kept), 2);
  std::array<int16_t, 4> left{};
  copy_kept(kept, std::as_bytes(std::span(rows)), std::as_writable_bytes(std::span(left)));
  EXPECT_THAT(left, ElementsAre(1, 2, 5, 6));
  copy_kept({}, {}, {});
}

}  // namespace
}  // namespace fuelrail
