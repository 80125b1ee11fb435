#include "fuelrail/mxnet/colours.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "fuelrail/testing/each_simd_target.h"

namespace fuelrail::mxnet {
namespace {

ImageView row_of(std::vector<uint8_t>& bytes) {
  const auto pixels = static_cast<int64_t>(bytes.size()) / 3;
  return {bytes.data(), 1, pixels, 3, pixels * 3};
}

uint8_t nearest_level(float value) {
  return static_cast<uint8_t>(std::clamp(std::nearbyint(value), 0.0f, 255.0f));
}

TEST(Colours, levels_are_scaled_and_rounded_to_the_even_one_of_two) {
  std::vector<uint8_t> bytes{0, 1, 2, 3, 5, 255};
  scale_levels(row_of(bytes), 0.5f, 0);
  EXPECT_EQ(bytes, (std::vector<uint8_t>{0, 0, 1, 2, 2, 128}));
  bytes = {0, 1, 2, 3, 5, 255};
  scale_levels(row_of(bytes), 1e30f, 0);
  EXPECT_EQ(bytes, (std::vector<uint8_t>{0, 255, 255, 255, 255, 255}));
  bytes = {0, 1, 2, 3, 5, 255};
  scale_levels(row_of(bytes), 1, -2.5f);
  EXPECT_EQ(bytes, (std::vector<uint8_t>{0, 0, 0, 0, 2, 252}));
}

TEST(Colours, mean_grey_has_the_weights_of_red_and_blue_exchanged) {
  std::vector<uint8_t> bytes{255, 0, 0, 0, 255, 0, 0, 0, 255};
  EXPECT_EQ(mean_mxnet_grey(row_of(bytes)), static_cast<float>((29 + 150 + 76) * (1.0 / 3)));
}

TEST(Colours, saturation_blends_with_that_grey) {
  std::vector<uint8_t> bytes{200, 10, 31, 0, 255, 90};
  const std::vector<uint8_t> before = bytes;
  saturate_colours(row_of(bytes), 1.7f);
  for (size_t pixel = 0; pixel < 2; ++pixel) {
    const uint8_t* rgb = before.data() + 3 * pixel;
    const int grey = (rgb[2] * 4899 + rgb[1] * 9617 + rgb[0] * 1868 + 8192) >> 14;
    for (size_t c = 0; c < 3; ++c) {
      const float blended =
          static_cast<float>(rgb[c]) * 1.7f + static_cast<float>(grey) * (1 - 1.7f);
      EXPECT_EQ(bytes[3 * pixel + c], nearest_level(blended));
    }
  }
}

std::vector<uint8_t> some_levels(size_t count) {
  std::vector<uint8_t> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<uint8_t>(i * 2654435761u >> 7);
  return bytes;
}

TEST(Colours, every_instruction_set_gives_the_same_levels) {
  for (const size_t pixels : {1, 5, 15, 16, 17, 31, 50, 300}) {
    const std::vector<uint8_t> before = some_levels(3 * pixels);
    for (const float factor : {0.0f, 0.3f, 0.5f, 1.0f, 1.7f, 900000.0f}) {
      std::vector<uint8_t> scaled;
      std::vector<uint8_t> saturated;
      uint64_t sum = 0;
      for (size_t i = 0; i < pixels; ++i) {
        const uint8_t* rgb = before.data() + 3 * i;
        const int grey = (rgb[2] * 4899 + rgb[1] * 9617 + rgb[0] * 1868 + 8192) >> 14;
        sum += static_cast<uint64_t>(grey);
        for (size_t c = 0; c < 3; ++c) {
          const auto level = static_cast<float>(rgb[c]);
          scaled.push_back(nearest_level(level * factor + -3.25f));
          saturated.push_back(
              nearest_level(level * factor + static_cast<float>(grey) * (1 - factor)));
        }
      }
      testing::on_each_simd_target([&] {
        std::vector<uint8_t> bytes = before;
        scale_levels(row_of(bytes), factor, -3.25f);
        EXPECT_EQ(bytes, scaled);
        bytes = before;
        saturate_colours(row_of(bytes), factor);
        EXPECT_EQ(bytes, saturated);
        bytes = before;
        EXPECT_EQ(
            mean_mxnet_grey(row_of(bytes)),
            static_cast<float>(static_cast<double>(sum) * (1.0 / static_cast<double>(pixels))));
      });
    }
  }
}

TEST(Colours, light_is_added_and_cut_towards_zero) {
  std::vector<uint8_t> bytes{10, 10, 10, 1, 255, 0};
  add_light(row_of(bytes), {-1.5f, 0.9f, 2.1f});
  EXPECT_EQ(bytes, (std::vector<uint8_t>{8, 10, 12, 0, 255, 2}));
}

TEST(Colours, shift_of_nothing_keeps_grey_and_lightness_is_added) {
  std::vector<uint8_t> bytes{40, 40, 40, 250, 250, 250};
  shift_hls(row_of(bytes), {0, 10, 0});
  EXPECT_EQ(bytes, (std::vector<uint8_t>{50, 50, 50, 255, 255, 255}));
}

}  // namespace
}  // namespace fuelrail::mxnet
