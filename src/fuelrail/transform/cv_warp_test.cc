#include "fuelrail/transform/cv_warp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "fuelrail/testing/each_simd_target.h"

namespace fuelrail {
namespace {

struct WarpImage {
  WarpImage(Size s, int64_t c, int64_t padding = 0)
      : size(s), channels(c), stride(s.width * c + padding) {
    bytes.assign(static_cast<size_t>(s.height * stride), 0x5a);
  }
  ImageView view() { return {bytes.data(), size.height, size.width, channels, stride}; }
  void fill_with_noise() {
    std::mt19937 random(7);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  }
  Size size;
  int64_t channels;
  int64_t stride;
  std::vector<uint8_t> bytes;
};

constexpr CvInterpolation kAll[] = {CvInterpolation::kNearest, CvInterpolation::kLinear,
                                    CvInterpolation::kCubic, CvInterpolation::kLanczos4};

TEST(CvWarp, the_identity_changes_nothing) {
  testing::on_each_simd_target([] {
    for (const int64_t channels : {1, 3, 4}) {
      WarpImage from({31, 45}, channels);
      from.fill_with_noise();
      for (const CvInterpolation interpolation : kAll) {
        WarpImage to({31, 45}, channels);
        cv_warp_affine(from.view(), {}, interpolation, 0, to.view());
        EXPECT_EQ(to.bytes, from.bytes) << channels << " " << static_cast<int>(interpolation);
      }
    }
  });
}

TEST(CvWarp, a_shift_by_whole_pixels_leaves_the_fill_behind) {
  for (const CvInterpolation interpolation : kAll) {
    WarpImage from({20, 30}, 3), to({20, 30}, 3);
    from.fill_with_noise();
    cv_warp_affine(from.view(), {{1, 0, 4, 0, 1, -3}}, interpolation, 201, to.view());
    for (int64_t y = 0; y < 20; ++y) {
      for (int64_t x = 0; x < 30; ++x) {
        const uint8_t* pixel = to.view().row(y) + 3 * x;
        const bool inside = x >= 4 && y < 17;
        const uint8_t* shown = from.view().row(inside ? y + 3 : 0) + 3 * (inside ? x - 4 : 0);
        for (int c = 0; c < 3; ++c) ASSERT_EQ(pixel[c], inside ? shown[c] : 201);
      }
    }
  }
}

// The kernel reads 16 bytes at a pixel. The image has its own memory, so that a sanitizer notices
// reads after it.
TEST(CvWarp, a_part_of_an_image_warps_as_it_does_alone_and_nothing_is_written_behind_a_row) {
  const CvAffine affine{{0.9, 0.3, -2, -0.3, 0.9, 7}};
  testing::on_each_simd_target([&] {
    for (const int64_t channels : {1, 3, 4}) {
      WarpImage large({50, 60}, channels);
      large.fill_with_noise();
      const ImageView part = large.view().crop({5, 7, 33, 41});
      WarpImage alone({33, 41}, channels);
      for (int64_t y = 0; y < 33; ++y) {
        std::memcpy(alone.view().row(y), part.row(y), static_cast<size_t>(41 * channels));
      }
      for (const CvInterpolation interpolation : kAll) {
        WarpImage expected({33, 39}, channels, 20), made({33, 39}, channels, 20);
        cv_warp_affine(alone.view(), affine, interpolation, 9, expected.view());
        cv_warp_affine(part, affine, interpolation, 9, made.view());
        EXPECT_EQ(made.bytes, expected.bytes);
        for (int64_t y = 0; y < 33; ++y) {
          const uint8_t* end = made.view().row(y) + 39 * channels;
          ASSERT_TRUE(std::all_of(end, end + 20, [](uint8_t byte) { return byte == 0x5a; }));
        }
      }
    }
  });
}

TEST(CvWarp, numbers_that_no_place_can_hold_are_outside) {
  testing::on_each_simd_target([] {
    for (const CvAffine& affine :
         {CvAffine{{1e-12, 0, 0, 0, 1e-12, 0}}, CvAffine{{1, 0, 1e300, 0, 1, -1e300}},
          CvAffine{{0, 0, 1e9, 0, 0, 1e9}}}) {
      for (const CvInterpolation interpolation : kAll) {
        WarpImage from({8, 9}, 3), to({40, 50}, 3);
        cv_warp_affine(from.view(), affine, interpolation, 3, to.view());
        for (const uint8_t level : to.bytes) ASSERT_TRUE(level == 3 || level == 0x5a);
      }
    }
  });
}

}  // namespace
}  // namespace fuelrail
