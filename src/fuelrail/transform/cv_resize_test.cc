#include "fuelrail/transform/cv_resize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/each_simd_target.h"

namespace fuelrail {
namespace {

// Pixels in rows without padding, or with bytes after each row that must not change.
struct CvImage {
  CvImage(Size s, int64_t c, int64_t padding = 0)
      : size(s), channels(c), stride(s.width * c + padding) {
    bytes.assign(static_cast<size_t>(s.height * stride - padding), 0x5a);
  }
  static CvImage noise(Size size, int64_t channels, uint32_t seed) {
    CvImage image(size, channels);
    std::mt19937 random(seed);
    for (uint8_t& byte : image.bytes) byte = static_cast<uint8_t>(random());
    return image;
  }
  ImageView view() { return {bytes.data(), size.height, size.width, channels, stride}; }
  std::string packed() {
    std::string all;
    for (int64_t y = 0; y < size.height; ++y) {
      all.append(reinterpret_cast<const char*>(view().row(y)),
                 static_cast<size_t>(size.width * channels));
    }
    return all;
  }
  Size size;
  int64_t channels;
  int64_t stride;
  std::vector<uint8_t> bytes;
};

CvImage copy_of(ImageView part) {
  CvImage copy(part.size(), part.channels);
  for (int64_t y = 0; y < part.height; ++y) {
    std::memcpy(copy.view().row(y), part.row(y), static_cast<size_t>(part.width * part.channels));
  }
  return copy;
}

constexpr CvInterpolation kAll[] = {CvInterpolation::kNearest, CvInterpolation::kLinear,
                                    CvInterpolation::kCubic, CvInterpolation::kArea,
                                    CvInterpolation::kLanczos4};

struct Sizes {
  Size from, to;
};
constexpr Sizes kSizes[] = {{{37, 53}, {20, 31}}, {{37, 53}, {90, 77}}, {{40, 64}, {20, 32}},
                            {{60, 96}, {20, 32}}, {{41, 50}, {41, 33}}, {{41, 50}, {41, 50}},
                            {{2, 3}, {9, 11}},    {{1, 1}, {5, 6}},     {{120, 200}, {7, 9}},
                            {{3, 500}, {5, 224}}};

Box some_window(std::mt19937& random, Size size) {
  const auto below = [&](int64_t limit) {
    return static_cast<int64_t>(random() % static_cast<uint32_t>(limit));
  };
  Box box{below(size.height), below(size.width), 0, 0};
  box.height = 1 + below(size.height - box.top);
  box.width = 1 + below(size.width - box.left);
  return box;
}

// The input is a buffer of exactly the needed pixels, so that a sanitizer notices reads beyond
// them.
TEST(CvResizer, a_window_is_the_same_part_of_the_whole_and_needs_only_its_input) {
  testing::on_each_simd_target([] {
    std::mt19937 random(9);
    CvResizer resizer;
    for (const auto& [from_size, to_size] : kSizes) {
      for (const int64_t channels : {1, 3, 4}) {
        CvImage from = CvImage::noise(from_size, channels, 3);
        for (const CvInterpolation interpolation : kAll) {
          CvImage all(to_size, channels);
          resizer.resize(from.view(), all.view(), interpolation);
          for (int i = 0; i < 5; ++i) {
            const Box window = i == 0 ? whole(to_size) : some_window(random, to_size);
            const CvResizeStep step{from_size, to_size, window, interpolation};
            const Box needed = needed_input(step);
            ASSERT_TRUE(needed.inside(from_size));
            CvImage input = copy_of(from.view().crop(needed));
            CvImage part(window.size(), channels, 5);
            resizer.resize(input.view(), needed, step, part.view());
            ASSERT_EQ(part.packed(), copy_of(all.view().crop(window)).packed())
                << from_size.height << "x" << from_size.width << " to " << to_size.height << "x"
                << to_size.width << ", channels " << channels << ", interpolation "
                << static_cast<int>(interpolation) << ", window " << window.top << ","
                << window.left << " " << window.height << "x" << window.width;
          }
        }
      }
    }
  });
}

TEST(CvResizer, nothing_is_written_behind_a_row) {
  testing::on_each_simd_target([] {
    CvResizer resizer;
    for (const auto& [from_size, to_size] : kSizes) {
      for (const int64_t channels : {1, 3, 4}) {
        CvImage from = CvImage::noise(from_size, channels, 4);
        for (const CvInterpolation interpolation : kAll) {
          CvImage to(to_size, channels, 70);
          resizer.resize(from.view(), to.view(), interpolation);
          for (int64_t y = 0; y + 1 < to_size.height; ++y) {
            const uint8_t* end = to.view().row(y) + to_size.width * channels;
            ASSERT_TRUE(std::all_of(end, end + 70, [](uint8_t byte) { return byte == 0x5a; }));
          }
        }
      }
    }
  });
}

TEST(CvResizer, an_input_among_other_pixels_is_not_mixed_with_them) {
  CvResizer resizer;
  CvImage from = CvImage::noise({60, 80}, 3, 5);
  const Box inner{10, 15, 31, 44};
  CvImage alone = copy_of(from.view().crop(inner));
  for (const CvInterpolation interpolation : kAll) {
    CvImage expected({20, 24}, 3), made({20, 24}, 3);
    resizer.resize(alone.view(), expected.view(), interpolation);
    resizer.resize(from.view().crop(inner), made.view(), interpolation);
    EXPECT_EQ(made.packed(), expected.packed());
  }
}

// The sum of its levels exceeds 32 bits; OpenCV's sum wraps around.
TEST(CvResizer, block_of_more_pixels_than_32_bits_can_sum_keeps_its_level) {
  CvImage from({2904, 2904}, 1), to({1, 1}, 1);
  std::ranges::fill(from.bytes, uint8_t{255});
  CvResizer().resize(from.view(), to.view(), CvInterpolation::kArea);
  EXPECT_EQ(to.bytes[0], 255);
}

TEST(CvResizer, longest_images_keep_their_level_and_longer_ones_are_not_summed) {
  CvImage to({1, 1}, 1);
  for (const Size size : {Size{kCvLongestSide, 1}, Size{1, kCvLongestSide}}) {
    CvImage from(size, 1);
    std::ranges::fill(from.bytes, uint8_t{255});
    for (const CvInterpolation interpolation : kAll) {
      CvResizer().resize(from.view(), to.view(), interpolation);
      EXPECT_EQ(to.bytes[0], 255);
    }
  }
  CvImage high({kCvLongestSide + 1, 1}, 1), wide({1, kCvLongestSide + 1}, 1);
  for (CvImage* from : {&high, &wide}) {
    for (const CvInterpolation interpolation : kAll) {
      if (interpolation == CvInterpolation::kNearest) continue;
      EXPECT_THROW(CvResizer().resize(from->view(), to.view(), interpolation), UnsupportedError);
    }
  }
}

TEST(CvResizer, longer_images_are_resized_where_nothing_is_summed) {
  CvImage from = CvImage::noise({1, kCvLongestSide + 5}, 3, 8);
  CvImage few({1, 4}, 3);
  CvResizer().resize(from.view(), few.view(), CvInterpolation::kNearest);
  for (int64_t x = 0; x < 4; ++x) {
    EXPECT_EQ(few.bytes[static_cast<size_t>(3 * x)],
              from.bytes[static_cast<size_t>(3 * (x * from.size.width / 4))]);
  }
  for (const CvInterpolation interpolation : kAll) {
    CvImage same(from.size, 3);
    CvResizer().resize(from.view(), same.view(), interpolation);
    EXPECT_EQ(same.bytes, from.bytes);
  }
}

TEST(CvResizer, auto_is_cubic_where_both_sides_grow_and_area_where_both_shrink) {
  EXPECT_EQ(cv_auto_interpolation({10, 10}, {11, 11}), CvInterpolation::kCubic);
  EXPECT_EQ(cv_auto_interpolation({10, 10}, {9, 9}), CvInterpolation::kArea);
  for (const Size to : {Size{9, 11}, Size{11, 9}, Size{10, 11}, Size{9, 10}, Size{10, 10}}) {
    EXPECT_EQ(cv_auto_interpolation({10, 10}, to), CvInterpolation::kLinear);
  }
}

TEST(CvResizer, one_colour_stays_that_colour) {
  testing::on_each_simd_target([] {
    CvResizer resizer;
    for (const auto& [from_size, to_size] : kSizes) {
      for (const CvInterpolation interpolation : kAll) {
        CvImage from(from_size, 3), to(to_size, 3);
        resizer.resize(from.view(), to.view(), interpolation);
        for (const char level : to.packed()) ASSERT_NEAR(level, 0x5a, 1);
      }
    }
  });
}

}  // namespace
}  // namespace fuelrail
