#include "fuelrail/transform/still_warp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "fuelrail/transform/still_pixels.h"

namespace fuelrail {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using Bounds = StillOptions::Bounds;

constexpr float kOut = -7;

// A still whose chroma is one value everywhere.
template <typename T = uint8_t>
struct Flat {
  Flat(Size size, int chroma, int bits, std::vector<T> luma_values, T cb, T cr)
      : luma(std::move(luma_values)),
        cb_values(luma.size(), cb),
        cr_values(luma.size(), cr),
        planes{.planes = {}, .chroma = chroma, .bits = bits} {
    const std::vector<T>* const values[] = {&luma, &cb_values, &cr_values};
    for (size_t p = 0; p < 3; ++p) {
      planes.planes[p] = {reinterpret_cast<const std::byte*>(values[p]->data()),
                          size.width * static_cast<int64_t>(sizeof(T)), size};
    }
  }
  std::vector<T> luma, cb_values, cr_values;
  Planes planes;
};

Flat<> grey(Size size, std::vector<uint8_t> luma) {
  return {size, 1, 8, std::move(luma), 128, 128};
}

// The parameters of a warp that scales and moves, with `kOut` out of bounds.
StillParameters scaled(float across, float left, float down = 1, float top = 0) {
  return {.warp = {across, 0, left, 0, down, top, 0, 0, 1}, .out_of_bounds = {kOut, kOut, kOut}};
}

// The first channel.
std::vector<float> warped(const Planes& planes, Size visible, const StillParameters& parameters,
                          const StillOptions& options, Size output) {
  std::vector<float> image(static_cast<size_t>(3 * output.height * output.width));
  warp_still(planes, visible, parameters, options, output, image.data());
  image.resize(image.size() / 3);
  return image;
}

std::vector<float> color_of(const Planes& planes, const StillParameters& parameters) {
  std::vector<float> image(3);
  warp_still(planes, {1, 1}, parameters, {}, {1, 1}, image.data());
  return image;
}

TEST(StillWarp, identity_copies_the_luma_of_a_grey_still) {
  const Flat<> still = grey({2, 3}, {0, 1, 2, 254, 255, 16});
  std::vector<float> image(18);
  warp_still(still.planes, {2, 3}, {}, {}, {2, 3}, image.data());
  for (size_t c = 0; c < 18; c += 6) {
    EXPECT_THAT(std::vector<float>(image.begin() + static_cast<ptrdiff_t>(c),
                                   image.begin() + static_cast<ptrdiff_t>(c) + 6),
                ElementsAre(0, 1, 2, 254, 255, 16));
  }
}

TEST(StillWarp, halves_between_two_pixels_are_rounded_up) {
  const Flat<> still = grey({1, 4}, {10, 11, 12, 14});
  EXPECT_THAT(warped(still.planes, {1, 4}, scaled(1, 0.5f), {}, {1, 3}), ElementsAre(11, 12, 13));
}

TEST(StillWarp, colors_are_those_of_the_four_matrices) {
  const Flat<> full({1, 1}, 3, 8, {100}, 90, 178);
  // 100 + 1.402 * 50; 100 + 0.344136 * 38 - 0.714136 * 50; 100 - 1.772 * 38
  EXPECT_THAT(color_of(full.planes, {}), ElementsAre(170, 77, 33));
  const Flat<> limited({1, 1}, 3, 8, {126}, 128, 178);
  EXPECT_THAT(color_of(limited.planes, {.color = 1}), ElementsAre(208, 87, 128));
  EXPECT_THAT(color_of(limited.planes, {.color = 2}), ElementsAre(218, 101, 128));
  EXPECT_THAT(color_of(limited.planes, {.color = 3}), ElementsAre(212, 96, 128));
  EXPECT_THAT(color_of(limited.planes, {.color = 9}), ElementsAre(126, 128, 178));
  const Flat<> white({1, 1}, 3, 8, {235}, 240, 16);
  EXPECT_THAT(color_of(white.planes, {.color = 1}), ElementsAre(76, 255, 255));
}

TEST(StillWarp, bias_is_subtracted_before_norm_is_multiplied) {
  const Flat<> still({1, 1}, 0, 8, {100}, 0, 0);
  EXPECT_THAT(color_of(still.planes, {.bias = {10, 20, 30}, .norm = {0.5f, 2, 0}}),
              ElementsAre(45, 160, 0));
}

TEST(StillWarp, more_bits_have_the_range_of_eight) {
  const Flat<uint16_t> full({1, 1}, 3, 10, {1023}, 512, 512);
  EXPECT_THAT(color_of(full.planes, {}), ElementsAre(255, 255, 255));
  const Flat<uint16_t> limited({1, 1}, 3, 10, {4 * 126}, 4 * 128, 4 * 178);
  EXPECT_THAT(color_of(limited.planes, {.color = 1}), ElementsAre(208, 87, 128));
  EXPECT_THAT(color_of(limited.planes, {.color = 9}), ElementsAre(126, 128, 178));
  const Flat<uint16_t> grey({1, 1}, 0, 16, {32768}, 0, 0);
  EXPECT_THAT(color_of(grey.planes, {.color = 9}), Each(128));
}

TEST(StillWarp, frame_ends_at_the_centres_of_its_outermost_pixels) {
  const Flat<> still = grey({1, 3}, {10, 20, 30});
  // At -0.5, 0, 0.5, ..., 2.5, whatever the size of the image inside the frame.
  EXPECT_THAT(warped(still.planes, {1, 1}, scaled(0.5f, -0.5f), {}, {1, 7}),
              ElementsAre(kOut, 10, 15, 20, 25, 30, kOut));
}

TEST(StillWarp, image_ends_half_a_pixel_further_and_hides_the_padding) {
  const Flat<> still = grey({2, 4}, {10, 20, 200, 200, 200, 200, 200, 200});
  EXPECT_THAT(
      warped(still.planes, {1, 2}, scaled(0.5f, -1, 1, 0.5f), {.bounds = Bounds::kImage}, {1, 8}),
      ElementsAre(kOut, 10, 10, 15, 20, 20, kOut, kOut));
  EXPECT_THAT(
      warped(still.planes, {1, 2}, scaled(1, 0, 1, 0.75f), {.bounds = Bounds::kImage}, {1, 2}),
      Each(kOut));
}

TEST(StillWarp, chroma_of_the_padding_is_hidden_too) {
  Flat<> still({1, 4}, 2, 8, {50, 50, 50, 50}, 128, 128);
  still.planes.planes[2].size.width = 2;
  still.cr_values[1] = 255;
  EXPECT_THAT(warped(still.planes, {1, 2}, scaled(1, 0), {.bounds = Bounds::kImage}, {1, 2}),
              ElementsAre(50, 50));
  EXPECT_GT(warped(still.planes, {1, 2}, scaled(1, 0), {}, {1, 2})[1], 50);
}

TEST(StillWarp, subsampled_chroma_is_centred_between_its_luma_values) {
  Flat<> still({1, 4}, 2, 8, {100, 100, 100, 100}, 128, 128);
  still.cr_values[1] = 228;  // the chroma of columns 2 and 3; 140.2 levels of red
  const std::vector<float> red = warped(still.planes, {1, 4}, scaled(1, 0), {}, {1, 4});
  EXPECT_THAT(red, ElementsAre(100, 135, 205, 240));  // a quarter and three quarters
}

TEST(StillWarp, a_smaller_image_has_the_means_of_its_areas_if_asked) {
  std::vector<uint8_t> luma(36);
  for (size_t i = 0; i < 36; ++i) luma[i] = static_cast<uint8_t>(i * i % 251);
  const Flat<> still({6, 6}, 0, 8, luma, 0, 0);
  StillParameters parameters = scaled(3, 1, 2, 0.5f);
  parameters.color = 9;
  const std::vector<float> found =
      warped(still.planes, {6, 6}, parameters, {.antialias = true}, {3, 2});
  for (size_t y = 0; y < 3; ++y) {
    for (size_t x = 0; x < 2; ++x) {
      float sum = 0;
      for (size_t i = 0; i < 6; ++i) sum += luma[(2 * y + i / 3) * 6 + 3 * x + i % 3];
      EXPECT_EQ(found[y * 2 + x], sum / 6) << y << " " << x;
    }
  }
}

TEST(StillWarp, a_larger_image_is_the_same_with_and_without_means) {
  const Flat<> still = grey({2, 3}, {0, 50, 100, 150, 200, 250});
  const StillParameters parameters = scaled(0.3f, -0.35f, 1, 0.2f);
  const StillOptions image{.bounds = Bounds::kImage};
  EXPECT_EQ(warped(still.planes, {2, 3}, parameters, image, {1, 9}),
            warped(still.planes, {2, 3}, parameters, {.bounds = Bounds::kImage, .antialias = true},
                   {1, 9}));
}

TEST(StillWarp, points_that_are_not_finite_are_out_of_bounds) {
  const Flat<> still = grey({1, 2}, {10, 20});
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), -1e38f}) {
    StillParameters parameters = scaled(1, bad);
    for (const Bounds bounds : {Bounds::kFrame, Bounds::kImage}) {
      for (const bool antialias : {false, true}) {
        EXPECT_THAT(warped(still.planes, {1, 2}, parameters, {bounds, antialias}, {1, 2}),
                    Each(kOut));
      }
    }
  }
  StillParameters nowhere = scaled(0, 0, 0, 0);
  nowhere.warp[8] = 0;
  EXPECT_THAT(warped(still.planes, {1, 2}, nowhere, {}, {1, 2}), Each(kOut));
}

// A plane as still::pixel reads it, for a processor without blocks of pixels.
struct BytePlane {
  const uint8_t* first = nullptr;
  int width = 0;
  float at(int x, int y) const { return first[y * width + x]; }
};

TEST(StillPixels, single_pixels_equal_those_of_an_image) {
  constexpr int kHeight = 30, kWidth = 45;
  std::vector<uint8_t> luma(kHeight * kWidth);
  for (size_t i = 0; i < luma.size(); ++i) luma[i] = static_cast<uint8_t>(i * i * 2654435761u >> 9);
  Flat<> still({kHeight, kWidth}, 3, 8, luma, 0, 0);
  still.cb_values.assign(luma.rbegin(), luma.rend());
  still.cr_values.assign(luma.begin(), luma.end());
  StillParameters parameters = scaled(0.9f, -2, 1.7f, 1);
  parameters.warp[1] = 0.8f;
  parameters.warp[6] = 0.01f;
  for (const bool antialias : {false, true}) {
    for (const float color : {0.0f, 1.0f, 7.0f}) {
      parameters.color = color;
      constexpr int kRows = 9, kColumns = 41;
      std::vector<float> image(3 * kRows * kColumns);
      warp_still(still.planes, {kHeight - 1, kWidth - 2}, parameters,
                 {.bounds = Bounds::kImage, .antialias = antialias}, {kRows, kColumns},
                 image.data());
      const still::Picture<BytePlane> picture{.luma = {still.luma.data(), kWidth},
                                              .cb = {still.cb_values.data(), kWidth},
                                              .cr = {still.cr_values.data(), kWidth},
                                              .chroma_x = 1,
                                              .chroma_y = 1,
                                              .width = kWidth - 2,
                                              .height = kHeight - 1,
                                              .tolerance = 0.5f};
      for (int i = 0; i < kRows * kColumns; ++i) {
        const still::Channels one = still::pixel(picture, parameters, still::colors_of(color, 8),
                                                 antialias, i % kColumns, i / kColumns);
        const auto at = static_cast<size_t>(i);
        ASSERT_EQ(one.red, image[at]) << i;
        ASSERT_EQ(one.green, image[at + kRows * kColumns]) << i;
        ASSERT_EQ(one.blue, image[at + 2 * kRows * kColumns]) << i;
      }
    }
  }
}

// Values just below a half, where adding 0.5 would round up, and halves.
TEST(StillPixels, rounding_is_to_the_nearest_integer_inside_the_range) {
  EXPECT_EQ(still::rounded(0.49999997f), 0);
  EXPECT_EQ(still::rounded(0.5f), 1);
  EXPECT_EQ(still::rounded(254.49998f), 254);
  EXPECT_EQ(still::rounded(254.5f), 255);
  EXPECT_EQ(still::rounded(1e30f), 255);
  EXPECT_EQ(still::rounded(-0.7f), 0);
}

TEST(StillPixels, number_of_points_is_the_width_rounded_up_and_limited) {
  EXPECT_EQ(still::points_for(0), 1);
  EXPECT_EQ(still::points_for(1), 1);
  EXPECT_EQ(still::points_for(1.001f), 2);
  EXPECT_EQ(still::points_for(2), 2);
  EXPECT_EQ(still::points_for(63.5f), 64);
  EXPECT_EQ(still::points_for(1e9f), 64);
  EXPECT_EQ(still::points_for(std::nanf("")), 1);
}

}  // namespace
}  // namespace fuelrail
