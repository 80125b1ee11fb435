#include "fuelrail/transform/pixel_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <new>

namespace fuelrail {
namespace {

TEST(PixelBuffer, view_is_dense_and_memory_is_used_again) {
  PixelBuffer buffer;
  const ImageView large = buffer.resize({20, 30});
  EXPECT_EQ(large.height, 20);
  EXPECT_EQ(large.width, 30);
  EXPECT_EQ(large.row_stride_bytes, 90);
  const ImageView small = buffer.resize({7, 5});
  EXPECT_EQ(small.data, large.data);
  EXPECT_EQ(small.row_stride_bytes, 15);
  EXPECT_EQ(buffer.capacity(), 20u * 30 * 3);
}

TEST(PixelBuffer, a_margin_is_memory_on_both_sides_of_each_row) {
  PixelBuffer buffer;
  const ImageView view = buffer.resize({4, 5}, 3);
  EXPECT_EQ(view.size(), (Size{4, 5}));
  EXPECT_EQ(view.row_stride_bytes, (3 + 5 + 3) * 3);
  std::fill(view.data - 3 * 3, view.row(3) + (5 + 3) * 3,
            uint8_t{1});  // ASan reports a write outside
  EXPECT_EQ(view.data, buffer.resize({4, 11}).data + 3 * 3);
}

TEST(PixelBuffer, giants_memory_goes_back_with_the_next_ordinary_image) {
  PixelBuffer buffer;
  buffer.resize({4000, 3000});
  EXPECT_EQ(buffer.capacity(), 36'000'000u);
  buffer.resize({3000, 3000});  // a giant too: it fits
  EXPECT_EQ(buffer.capacity(), 36'000'000u);
  buffer.resize({100, 100});
  EXPECT_EQ(buffer.capacity(), 30'000u);
}

TEST(PixelBuffer, up_to_the_bound_memory_is_kept) {
  PixelBuffer buffer;
  buffer.resize({2048, 2048});
  buffer.resize({1, 1});
  EXPECT_EQ(buffer.capacity(), 2048u * 2048 * 3);
  EXPECT_LE(buffer.capacity(), PixelBuffer::kKeptBytes);
}

#ifndef FUELRAIL_SANITIZED
TEST(PixelBuffer, lack_of_memory_leaves_it_empty_and_usable) {
  PixelBuffer buffer;
  buffer.resize({10, 10});
  EXPECT_THROW(buffer.resize({int64_t{1} << 30, int64_t{1} << 30}), std::bad_alloc);
  EXPECT_EQ(buffer.capacity(), 0u);
  EXPECT_NE(buffer.resize({10, 10}).data, nullptr);
}
#endif

}  // namespace
}  // namespace fuelrail
