#include "fuelrail/transform/warp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "fuelrail/testing/each_simd_target.h"
#include "fuelrail/testing/pillow_reference.h"
#include "fuelrail/transform/pixel_buffer.h"

namespace fuelrail {
namespace {

using testing::PlainImage;

PlainImage noise(Size size, uint32_t seed) {
  PlainImage image(size);
  std::mt19937 random(seed);
  for (uint8_t& byte : image.bytes) byte = static_cast<uint8_t>(random());
  return image;
}

// `warp` may read after its input.
PlainImage warped(const PlainImage& image, const WarpStep& step) {
  PixelBuffer buffer;
  const ImageView from = buffer.resize(image.size);
  std::copy(image.bytes.begin(), image.bytes.end(), from.data);
  PlainImage to(step.output);
  warp(from, step, to.view());
  return to;
}

// torch's grid_sample and torchvision's fill, in double.
double expected_level(const PlainImage& image, const WarpStep& step, double x, double y,
                      int64_t c) {
  const double fill = step.border.fill[static_cast<size_t>(c)];
  const bool edge = step.border.mode == PaddingMode::kEdge;
  const auto height = static_cast<double>(image.size.height);
  const auto width = static_cast<double>(image.size.width);
  if (edge) {
    x = std::clamp(x, 0.0, width - 1);
    y = std::clamp(y, 0.0, height - 1);
  }
  double sum = 0, inside = 0;
  for (int64_t i = 0; i < 4; ++i) {
    const auto cx = static_cast<int64_t>(std::floor(x)) + i % 2;
    const auto cy = static_cast<int64_t>(std::floor(y)) + i / 2;
    const double weight =
        (1 - std::fabs(x - static_cast<double>(cx))) * (1 - std::fabs(y - static_cast<double>(cy)));
    if (cx < 0 || cy < 0 || cx >= image.size.width || cy >= image.size.height) continue;
    sum += weight * image.at(cy, cx, c);
    inside += weight;
  }
  return edge ? sum : (sum - fill) * inside + fill;
}

AffineParameters random_parameters(std::mt19937& random) {
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(random()) / 4294967296.0;
  };
  return {.angle = uniform(-400, 400),
          .translate = {std::floor(uniform(-8, 8)), std::floor(uniform(-8, 8))},
          .scale = uniform(0.3, 3),
          .shear = {uniform(-40, 40), uniform(-40, 40)},
          .center = {uniform(-9, 9), uniform(-9, 9)}};
}

TEST(Warp, bilinear_is_grid_sample_to_half_a_level_and_a_rounding) {
  std::mt19937 random(3);
  for (uint32_t i = 0; i < 300; ++i) {
    const Size size{1 + static_cast<int64_t>(random() % 50),
                    1 + static_cast<int64_t>(random() % 50)};
    const PlainImage image = noise(size, i);
    WarpStep step{.output = size,
                  .matrix = inverse_affine(random_parameters(random)),
                  .interpolation = Interpolation::kBilinear,
                  .border = {.mode = i % 2 == 0 ? PaddingMode::kEdge : PaddingMode::kConstant,
                             .fill = {10, 200, 255}}};
    if (i % 3 == 0) step.output = {size.height + 5, size.width + 12};
    const PlainImage made = warped(image, step);
    for (int64_t y = 0; y < step.output.height; ++y) {
      for (int64_t x = 0; x < step.output.width; ++x) {
        const auto half = [](int64_t length) { return static_cast<double>(length) / 2; };
        const double px = static_cast<double>(x) + 0.5 - half(step.output.width);
        const double py = static_cast<double>(y) + 0.5 - half(step.output.height);
        const Matrix& m = step.matrix;
        const double sx = m[0] * px + m[1] * py + m[2] + half(size.width) - 0.5;
        const double sy = m[3] * px + m[4] * py + m[5] + half(size.height) - 0.5;
        for (int64_t c = 0; c < 3; ++c) {
          // Places are rounded to 2^-16 twice: 255 levels * 4 * 2^-16 at most; fill squares it.
          ASSERT_NEAR(made.at(y, x, c), expected_level(image, step, sx, sy, c), 0.5 + 0.05)
              << i << ": " << y << ", " << x;
        }
      }
    }
  }
}

TEST(Warp, every_simd_target_gives_the_same_bits) {
  std::mt19937 random(4);
  for (uint32_t i = 0; i < 40; ++i) {
    const Size size{20 + i, 90 - i};
    const PlainImage image = noise(size, i);
    const WarpStep step{.output = size,
                        .matrix = inverse_affine(random_parameters(random)),
                        .interpolation = Interpolation::kBilinear};
    const PlainImage expected = warped(image, step);
    testing::on_each_simd_target([&] { ASSERT_EQ(warped(image, step), expected) << i; });
  }
}

TEST(Warp, no_turn_is_the_image_and_quarter_turns_move_pixels) {
  const PlainImage image = noise({33, 33}, 1);
  for (const Interpolation interpolation : {Interpolation::kNearest, Interpolation::kBilinear}) {
    const auto turned = [&](double angle) {
      return warped(image, {.output = image.size,
                            .matrix = inverse_affine({.angle = angle}),
                            .interpolation = interpolation});
    };
    EXPECT_EQ(turned(0), image);
    EXPECT_EQ(turned(720), image);
    EXPECT_EQ(turned(180), testing::flipped(image, true, true));
    // Clockwise: the left edge becomes the top edge.
    EXPECT_EQ(turned(90), testing::flipped(testing::transposed(image), true, false));
    EXPECT_EQ(turned(-90), testing::flipped(testing::transposed(image), false, true));
  }
}

TEST(Warp, translation_moves_right_and_down_and_fills) {
  const PlainImage image = noise({10, 12}, 2);
  for (const PaddingMode mode : {PaddingMode::kConstant, PaddingMode::kEdge}) {
    const PlainImage made = warped(image, {.output = image.size,
                                           .matrix = inverse_affine({.translate = {3, 2}}),
                                           .border = {.mode = mode, .fill = {1, 2, 3}}});
    EXPECT_EQ(made.at(5, 7, 1), image.at(3, 4, 1));
    EXPECT_EQ(made.at(1, 7, 1), mode == PaddingMode::kEdge ? image.at(0, 4, 1) : 2);
  }
}

TEST(Warp, a_shrunken_image_lies_in_the_middle_of_the_border) {
  const PlainImage image = noise({40, 40}, 2);
  const PlainImage made = warped(image, {.output = image.size,
                                         .matrix = inverse_affine({.scale = 0.001}),
                                         .interpolation = Interpolation::kBilinear,
                                         .border = {.fill = {9, 9, 9}}});
  EXPECT_EQ(made.at(0, 0, 0), 9);
  EXPECT_EQ(made.at(39, 39, 2), 9);
  // Huge coordinates stay outside.
  const PlainImage tiny = warped(image, {.output = image.size,
                                         .matrix = inverse_affine({.scale = 1e-300}),
                                         .border = {.fill = {7, 7, 7}}});
  EXPECT_EQ(tiny.at(0, 0, 0), 7);
}

TEST(InverseAffine, is_torchvisions_to_a_few_ulps) {
  std::mt19937 random(6);
  for (int i = 0; i < 500; ++i) {
    const AffineParameters p = random_parameters(random);
    const double radians = std::numbers::pi / 180;
    const double rot = p.angle * radians, sx = p.shear[0] * radians, sy = p.shear[1] * radians;
    const double a = std::cos(rot - sy) / std::cos(sy);
    const double b = -std::cos(rot - sy) * std::tan(sx) / std::cos(sy) - std::sin(rot);
    const double c = std::sin(rot - sy) / std::cos(sy);
    const double d = -std::sin(rot - sy) * std::tan(sx) / std::cos(sy) + std::cos(rot);
    const Matrix made = inverse_affine(p);
    const double linear[4] = {d / p.scale, -b / p.scale, -c / p.scale, a / p.scale};
    EXPECT_NEAR(made[0], linear[0], 1e-13);
    EXPECT_NEAR(made[1], linear[1], 1e-13);
    EXPECT_NEAR(made[3], linear[2], 1e-13);
    EXPECT_NEAR(made[4], linear[3], 1e-13);
    const double x = -p.center[0] - p.translate[0], y = -p.center[1] - p.translate[1];
    EXPECT_NEAR(made[2], linear[0] * x + linear[1] * y + p.center[0], 1e-11);
    EXPECT_NEAR(made[5], linear[2] * x + linear[3] * y + p.center[1], 1e-11);
  }
}

TEST(ExpandedSize, holds_the_turned_image) {
  const auto size = [](double angle, Size image) {
    return expanded_size(inverse_affine({.angle = angle}), image);
  };
  EXPECT_EQ(size(0, {30, 50}), (Size{30, 50}));
  EXPECT_EQ(size(90, {30, 50}), (Size{50, 30}));
  EXPECT_EQ(size(180, {31, 50}), (Size{31, 50}));
  EXPECT_EQ(size(45, {100, 100}), (Size{142, 142}));
}

}  // namespace
}  // namespace fuelrail
