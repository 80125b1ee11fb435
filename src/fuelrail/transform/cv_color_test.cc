#include "fuelrail/transform/cv_color.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "fuelrail/testing/each_simd_target.h"

namespace fuelrail {
namespace {

using Colour = std::array<uint8_t, 3>;

Colour to_hls(Colour rgb) {
  Colour hls;
  cv_rgb_to_hls({rgb.data(), 1, 1, 3, 3}, {hls.data(), 1, 1, 3, 3});
  return hls;
}
Colour to_rgb(Colour hls) {
  Colour rgb;
  cv_hls_to_rgb({hls.data(), 1, 1, 3, 3}, {rgb.data(), 1, 1, 3, 3});
  return rgb;
}

TEST(CvColor, the_corners_of_the_cube_have_their_hues) {
  testing::on_each_simd_target([] {
    EXPECT_EQ(to_hls({255, 0, 0}), (Colour{0, 128, 255}));
    EXPECT_EQ(to_hls({255, 255, 0}), (Colour{30, 128, 255}));
    EXPECT_EQ(to_hls({0, 255, 0}), (Colour{60, 128, 255}));
    EXPECT_EQ(to_hls({0, 255, 255}), (Colour{90, 128, 255}));
    EXPECT_EQ(to_hls({0, 0, 255}), (Colour{120, 128, 255}));
    EXPECT_EQ(to_hls({255, 0, 255}), (Colour{150, 128, 255}));
    EXPECT_EQ(to_hls({0, 0, 0}), (Colour{0, 0, 0}));
    EXPECT_EQ(to_hls({255, 255, 255}), (Colour{0, 255, 0}));
    EXPECT_EQ(to_rgb({120, 128, 255}), (Colour{1, 1, 255}));
  });
}

TEST(CvColor, a_hue_of_180_and_more_goes_round_again) {
  testing::on_each_simd_target([] {
    for (int hue = 180; hue < 256; ++hue) {
      const auto high = static_cast<uint8_t>(hue), low = static_cast<uint8_t>(hue - 180);
      ASSERT_EQ(to_rgb({high, 100, 200}), to_rgb({low, 100, 200})) << hue;
    }
  });
}

// Here, 2 - most - least and 2 - (most + least) are different floats.
TEST(CvColor, saturation_of_the_last_columns_is_that_of_single_pixels) {
  testing::on_each_simd_target([] {
    for (const int64_t width : {1, 3, 4, 6, 16, 18, 37, 258}) {
      std::vector<uint8_t> row;
      for (int64_t x = 0; x < width; ++x) row.insert(row.end(), {156, 140, 134});
      const ImageView view{row.data(), 1, width, 3, 3 * width};
      cv_rgb_to_hls(view, view);
      for (int64_t x = 0; x < width; ++x) {
        EXPECT_EQ(row[static_cast<size_t>(3 * x + 2)], x < width / 4 * 4 ? 26 : 25)
            << "column " << x << " of " << width;
      }
    }
  });
}

// Rows of 37 pixels are not a whole number of steps. The 5 bytes after each row must not change.
TEST(CvColor, in_place_is_the_same_and_nothing_is_written_behind_a_row) {
  testing::on_each_simd_target([] {
    constexpr int64_t kHeight = 3, kWidth = 37, kStride = 3 * kWidth + 5;
    std::vector<uint8_t> image(kHeight * kStride);
    for (size_t i = 0; i < image.size(); ++i) image[i] = static_cast<uint8_t>(i * 89);
    std::vector<uint8_t> apart(image.size(), 0x5a);
    const ImageView view{image.data(), kHeight, kWidth, 3, kStride};
    const ImageView result{apart.data(), kHeight, kWidth, 3, kStride};
    const std::vector<uint8_t> before = image;
    for (const auto convert : {cv_rgb_to_hls, cv_hls_to_rgb}) {
      convert(view, result);
      convert(view, view);
      for (int64_t y = 0; y < kHeight; ++y) {
        ASSERT_TRUE(std::equal(view.row(y), view.row(y) + 3 * kWidth, result.row(y)));
        const uint8_t* end = result.row(y) + 3 * kWidth;
        ASSERT_TRUE(std::all_of(end, end + 5, [](uint8_t byte) { return byte == 0x5a; }));
        const uint8_t* own = before.data() + y * kStride + 3 * kWidth;
        ASSERT_TRUE(std::equal(own, own + 5, view.row(y) + 3 * kWidth));
      }
    }
  });
}

}  // namespace
}  // namespace fuelrail
