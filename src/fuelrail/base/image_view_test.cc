#include "fuelrail/base/image_view.h"

#include <gtest/gtest.h>

#include <array>

namespace fuelrail {
namespace {

TEST(Box, is_inside_an_image_up_to_its_edges) {
  const Size image{4, 6};
  EXPECT_TRUE(whole(image).inside(image));
  EXPECT_TRUE((Box{4, 6, 0, 0}).inside(image));
  EXPECT_FALSE((Box{-1, 0, 2, 2}).inside(image));
  EXPECT_FALSE((Box{0, -1, 2, 2}).inside(image));
  EXPECT_FALSE((Box{3, 0, 2, 2}).inside(image));
  EXPECT_FALSE((Box{0, 5, 2, 2}).inside(image));
  EXPECT_FALSE((Box{0, 0, -1, 2}).inside(image));
  EXPECT_EQ((Box{1, 2, 3, 4}).size(), (Size{3, 4}));
}

TEST(ImageView, crop_views_the_same_pixels_across_padded_rows) {
  constexpr int64_t kStride = 20;  // 5 pixels of 3 bytes, and 5 bytes of padding
  std::array<uint8_t, 4 * kStride> pixels{};
  const ImageView image{pixels.data(), 4, 5, 3, kStride};
  const ImageView box = image.crop({1, 2, 2, 3});
  EXPECT_EQ(box.size(), (Size{2, 3}));
  box.row(1)[3] = 77;
  EXPECT_EQ(pixels[2 * kStride + 3 * 3], 77);
  const ConstImageView same = box;
  EXPECT_EQ(same.row(1)[3], 77);
}

TEST(ImageView, copied_rows_leave_alone_what_lies_between_them) {
  const std::array<uint8_t, 8> from{1, 2, 3, 9, 4, 5, 6, 9};
  std::array<uint8_t, 10> to{};
  copy_rows({from.data(), 2, 3, 1, 4}, {to.data(), 2, 3, 1, 5});
  EXPECT_EQ(to, (std::array<uint8_t, 10>{1, 2, 3, 0, 0, 4, 5, 6, 0, 0}));
}

}  // namespace
}  // namespace fuelrail
