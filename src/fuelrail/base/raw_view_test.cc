#include "fuelrail/base/raw_view.h"

#include <gtest/gtest.h>

#include <array>

namespace fuelrail {
namespace {

TEST(RawView, crop_views_the_same_elements_across_padded_rows) {
  std::array<uint16_t, 4 * 12> elements{};  // 5 pixels of 2 channels, and 2 elements of padding
  const RawView image{reinterpret_cast<std::byte*>(elements.data()), 4, 5, 2, DType::kUint16, 24};
  EXPECT_EQ(image.pixel_bytes(), 4);
  EXPECT_EQ(image.row_bytes(), 20);
  const ConstRawView box = image.crop({1, 2, 2, 3});
  EXPECT_EQ(box.size(), (Size{2, 3}));
  elements[2 * 12 + 3 * 2] = 777;  // row 2, column 3
  EXPECT_EQ(box.row_of<uint16_t>(1)[2], 777);
}

TEST(RawView, has_a_channel_for_each_byte_of_a_pixel_and_back) {
  std::array<int32_t, 6> elements{};
  const RawView image{reinterpret_cast<std::byte*>(elements.data()), 2, 3, 1, DType::kInt32, 12};
  const ImageView bytes = image.bytes_image();
  EXPECT_EQ(bytes.size(), image.size());
  EXPECT_EQ(bytes.channels, 4);
  bytes.row(1)[2 * 4 + 1] = 3;  // the second byte of the last pixel
  EXPECT_EQ(elements[5], 3 * 256);
  const ConstRawView again = raw_view(bytes);
  EXPECT_EQ(again.dtype, DType::kUint8);
  EXPECT_EQ(again.pixel_bytes(), 4);
  EXPECT_EQ(again.row(1), image.row(1));
}

}  // namespace
}  // namespace fuelrail
