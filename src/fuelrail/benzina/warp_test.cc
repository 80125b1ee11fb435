#include "fuelrail/benzina/warp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fuelrail/base/error.h"

namespace fuelrail::benzina {
namespace {

using ::testing::DoubleNear;
using ::testing::Pointwise;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

void expect_near(const Homography& warp, const Homography& expected) {
  EXPECT_THAT(warp, Pointwise(DoubleNear(1e-10), expected));
}

Homography affine(std::array<double, 6> m) { return {m[0], m[1], m[2], m[3], m[4], m[5], 0, 0, 1}; }

// The arguments of Benzina's documented example, for training.
SimilarityWarp training() {
  return SimilarityWarp(
      {.scale = {0.08, 1}, .ratio = {{3.0 / 4, 4.0 / 3}}, .flip_h = 0.5, .random_crop = true});
}

SimilarityWarp full_area(bool random_crop = true) {
  return SimilarityWarp(
      {.scale = {1, 1}, .ratio = {{3.0 / 4, 4.0 / 3}}, .random_crop = random_crop});
}

// The expected matrices of the next four tests are from Benzina 0.0.5.

TEST(BenzinaWarp, three_training_samples_are_those_of_benzina) {
  const SimilarityWarp warp = training();
  RandomState random(1234u);
  expect_near(warp.draw({384, 512}, {224, 224}, random),
              affine({0.7385730981, 0, 151.5680480762, 0, 0.6884640283, 180.3071140956}));
  expect_near(warp.draw({384, 512}, {224, 224}, random),
              affine({-1.6929009022, 0, 419.8963711280, 0, 1.6919318931, 3.9146474116}));
  expect_near(warp.draw({384, 512}, {224, 224}, random),
              affine({1.7644282416, 0, 9.1843365137, 0, 1.6510837194, 5.5470743575}));
}

TEST(BenzinaWarp, central_crop_is_resized_by_its_edge) {
  constexpr double kEdge = 224.0 / 256;
  const SimilarityWarp warp(
      {.scale = {kEdge * kEdge, kEdge * kEdge}, .resize = true, .keep_ratio = true});
  RandomState random(0u);
  expect_near(warp.draw({384, 512}, {224, 224}, random), affine({1.5, 0, 88.25, 0, 1.5, 24.25}));
}

TEST(BenzinaWarp, crop_that_never_fits_is_central_and_in_whole_pixels) {
  RandomState random(0u);
  expect_near(full_area().draw({100, 512}, {224, 224}, random),
              affine({0.59375, 0, 189.296875, 0, 0.44642857142857145, -0.2767857142857153}));
  RandomState again(0u);
  expect_near(full_area().draw({512, 100}, {224, 224}, again),
              affine({0.44642857142857145, 0, -0.2767857142857153, 0, 0.59375, 189.296875}));
}

TEST(BenzinaWarp, affine_matrices_are_those_of_benzina) {
  const Crop crop{10, -10, 40, 20};
  expect_near(affine_matrix({144, 256}, {256, 144}, {.crop = crop, .degrees = 90, .resize = true}),
              affine({0, -0.15625, 157.421875, 0.13888888888888889, 0, 51.569444444444444}));
  expect_near(affine_matrix({144, 256}, {36, 64}, {.crop = crop, .flip_h = true}),
              affine({-1, 0, 149, 0, 1, 44}));
}

TEST(BenzinaWarp, random_crop_continues_after_a_crop_that_did_not_fit) {
  const SimilarityWarp warp = training();
  RandomState random(0u);
  full_area().draw({100, 512}, {224, 224}, random);
  const Homography after = warp.draw({384, 512}, {224, 224}, random);
  const Homography central = SimilarityWarp({.scale = {0.08, 1}, .ratio = {{3.0 / 4, 4.0 / 3}}})
                                 .draw({384, 512}, {224, 224}, random);
  EXPECT_NE(after[0] * 111.5 + after[2], 255.5);
  EXPECT_DOUBLE_EQ(central[0] * 111.5 + central[2], 255.5);
}

TEST(BenzinaWarp, rotated_crop_is_as_large_as_the_box_of_its_corners) {
  for (const double degrees : {0.0, 30.0, 45.0, 90.0, 135.0, -60.0, 180.0, 270.0}) {
    const Homography warp = affine_matrix(
        {400, 400}, {100, 100}, {.crop = {{0, 0, 200, 80}}, .degrees = degrees, .resize = true});
    const double angle = degrees * std::acos(-1.0) / 180;
    const double width = 200 * std::fabs(std::cos(angle)) + 80 * std::fabs(std::sin(angle));
    const double height = 200 * std::fabs(std::sin(angle)) + 80 * std::fabs(std::cos(angle));
    EXPECT_NEAR(std::hypot(warp[0], warp[3]), width / 100, 1e-12) << degrees;
    EXPECT_NEAR(std::hypot(warp[1], warp[4]), height / 100, 1e-12) << degrees;
  }
}

TEST(BenzinaWarp, product_maps_an_output_pixel_by_the_second_then_by_the_first) {
  const Homography scale = affine({2, 0, 0, 0, 2, 0});
  const Homography shift = affine({1, 0, 5, 0, 1, 7});
  EXPECT_EQ(product(scale, shift), affine({2, 0, 10, 0, 2, 14}));
  EXPECT_EQ(product(shift, scale), affine({2, 0, 5, 0, 2, 7}));
}

TEST(BenzinaWarp, a_warp_needs_finite_numbers_and_an_inverse) {
  check_warp(affine({0.5, -0.25, 1e6, 0.25, 0.5, -1e6}));
  check_warp({1, 0, 0, 0, 1, 0, 0.001, 0.002, 1});
  for (const Homography& bad :
       {Homography{}, Homography{1, 2, 3, 4, 5, 6, 7, 8, 9}, affine({1, 2, 0, 2, 4, 0}),
        affine({1, 0, kNaN, 0, 1, 0}), affine({1, 0, 0, 0, kInfinity, 0}),
        affine({1e39, 0, 0, 0, 1, 0}), affine({1e-50, 0, 0, 0, 1, 0})}) {
    EXPECT_THROW(check_warp(bad), InvalidArgumentError) << bad[0] << " " << bad[1];
  }
}

TEST(BenzinaWarp, parameters_out_of_range_are_rejected) {
  RandomState random(0u);
  for (const Size bad : {Size{0, 1}, Size{1, 0}, Size{-1, 1}, Size{1, int64_t{1} << 31}}) {
    EXPECT_THROW(training().draw(bad, {8, 8}, random), InvalidArgumentError);
    EXPECT_THROW(training().draw({8, 8}, bad, random), InvalidArgumentError);
    EXPECT_THROW(affine_matrix(bad, {8, 8}, {}), InvalidArgumentError);
  }
  const Similarity intervals[] = {
      {.scale = {0, 1}},
      {.scale = {1, kNaN}},
      {.scale = {-1, 1}},
      {.ratio = {{0, 1}}},
      {.ratio = {{1, kInfinity}}},
      {.degrees = {-1e10, 0}},
      {.degrees = {0, kNaN}},
      {.translate = {1.5, 0}},
      {.translate = {0, -0.1}},
      {.flip_h = 1.1},
      {.flip_v = -0.1},
      {.flip_h = kNaN},
  };
  for (const Similarity& bad : intervals) EXPECT_THROW(SimilarityWarp{bad}, InvalidArgumentError);
  const AffineWarp warps[] = {
      {.crop = {{0, 0, 0, 8}}, .resize = true},
      {.crop = {{0, 0, 8, kNaN}}, .resize = true},
      {.crop = {{kInfinity, 0, 8, 8}}},
      {.degrees = kNaN},
      {.translate = {0, kNaN}},
  };
  for (const AffineWarp& bad : warps) {
    EXPECT_THROW(affine_matrix({8, 8}, {8, 8}, bad), InvalidArgumentError);
  }
}

}  // namespace
}  // namespace fuelrail::benzina
