#include "fuelrail/transform/geometry.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "fuelrail/testing/pillow_reference.h"
#include "fuelrail/transform/resize.h"

namespace fuelrail {
namespace {

using testing::PlainImage;

ResampleStep crop(Box box, Size to) { return {.box = box, .scaled = to, .window = whole(to)}; }

TEST(Continued, is_numpys_pad) {
  const auto row = [](PaddingMode mode, int64_t length) {
    std::vector<int64_t> pixels;
    for (int64_t i = -5; i < length + 5; ++i) pixels.push_back(continued(i, length, mode));
    return pixels;
  };
  using Row = std::vector<int64_t>;
  EXPECT_EQ(row(PaddingMode::kEdge, 2), (Row{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(row(PaddingMode::kReflect, 3), (Row{1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1}));
  EXPECT_EQ(row(PaddingMode::kSymmetric, 3), (Row{1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1}));
  EXPECT_EQ(row(PaddingMode::kReflect, 1), Row(11, 0));
}

TEST(DecodeEighths, never_goes_below_the_target) {
  const Size to{224, 224};
  EXPECT_EQ(decode_eighths(crop({0, 0, 447, 600}, to)), 8);
  EXPECT_EQ(decode_eighths(crop({0, 0, 448, 448}, to)), 4);
  EXPECT_EQ(decode_eighths(crop({5, 6, 896, 2000}, to)), 2);
  EXPECT_EQ(decode_eighths(crop({0, 0, 1792, 1792}, to)), 1);
  EXPECT_EQ(decode_eighths(crop({0, 0, 9000, 9000}, to)), 1);
  EXPECT_EQ(decode_eighths(crop({0, 0, 9000, 300}, to)), 8);
  ResampleStep step = crop({0, 0, 900, 900}, to);
  step.interpolation = Interpolation::kNearest;
  EXPECT_EQ(decode_eighths(step), 8);
  step = crop({0, 0, 900, 900}, to);
  step.antialias = false;
  EXPECT_EQ(decode_eighths(step), 8);
}

// The means of blocks of a ramp are a ramp again. A scaled decode is close to these means.
TEST(AtEighths, the_same_part_of_the_image_is_shown) {
  const Size image{203, 301};
  for (const int eighths : {1, 2, 4}) {
    const int64_t block = 8 / eighths;
    const Size smaller = at_eighths(image, eighths);
    EXPECT_EQ(smaller.height, (image.height + block - 1) / block);
    const auto level = [](double y, double x) { return 20 + 0.4 * y + 0.3 * x; };
    PlainImage full(image);
    PlainImage scaled(smaller);
    const auto paint = [&](PlainImage& to, double pixel) {
      for (int64_t y = 0; y < to.size.height; ++y) {
        for (int64_t x = 0; x < to.size.width; ++x) {
          const double value =
              level((static_cast<double>(y) + 0.5) * pixel, (static_cast<double>(x) + 0.5) * pixel);
          for (int64_t c = 0; c < 3; ++c) to.at(y, x, c) = static_cast<uint8_t>(std::lround(value));
        }
      }
    };
    paint(full, 1);
    paint(scaled, static_cast<double>(block));
    for (const bool mirror : {false, true}) {
      ResampleStep step = crop({37, 53, 130, 201}, {11, 13});
      step.mirror_horizontal = step.mirror_vertical = mirror;
      const ResampleStep step_scaled = at_eighths(step, image, eighths);
      ASSERT_TRUE(needed_input(step_scaled).inside(smaller));
      PlainImage expected(step.scaled);
      PlainImage made(step.scaled);
      Resampler resampler;
      resampler.resample(full.view(), whole(image), step, expected.view());
      resampler.resample(scaled.view(), whole(smaller), step_scaled, made.view());
      for (size_t i = 0; i < made.bytes.size(); ++i) {
        // Filters are cut at the box's edges, by whole pixels: the blocks there are larger.
        ASSERT_LE(std::abs(made.bytes[i] - expected.bytes[i]), 2) << eighths << ": " << i;
      }
    }
  }
}

TEST(ForSize, the_same_part_of_the_scene_is_shown) {
  const ResampleStep step = crop({10, 21, 50, 61}, {33, 44});
  EXPECT_EQ(for_size(step, {100, 200}, {100, 200}), step);
  const ResampleStep half = for_size(step, {100, 200}, {50, 100});
  EXPECT_EQ(half.box, (Box{5, 10, 25, 31}));
  EXPECT_EQ(half.region, (Region{0, 0.5, 25, 30.5}));
  EXPECT_EQ(half.window, step.window);
  const ResampleStep tenfold = for_size(step, {100, 200}, {1000, 2000});
  EXPECT_EQ(tenfold.box, (Box{100, 210, 500, 610}));
  EXPECT_EQ(for_size(step, {100, 200}, {1, 2}).box, (Box{0, 0, 1, 1}));
  EXPECT_EQ(decode_eighths(tenfold), 8);
  EXPECT_TRUE(needed_input(half).inside({50, 100}));
}

}  // namespace
}  // namespace fuelrail
