#include "fuelrail/decode/orientation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/golden_images.h"

namespace fuelrail {
namespace {

struct Pixels {
  Pixels(Size size, int64_t channels, int64_t padding)
      : bytes(static_cast<size_t>(size.height * (size.width * channels + padding)), 0xee),
        view{bytes.data(), size.height, size.width, channels, size.width * channels + padding} {}
  Pixels(const Pixels&) = delete;
  Pixels& operator=(const Pixels&) = delete;
  std::vector<uint8_t> bytes;
  ImageView view;
};

Size upright_size(Size stored, int orientation) {
  return orientation >= 5 ? Size{stored.width, stored.height} : stored;
}

// EXIF's definition: which side of the scene row 0 and column 0 of the stored image are.
//   1 top left, 2 top right, 3 bottom right, 4 bottom left,
//   5 left top, 6 right top, 7 right bottom, 8 left bottom.
std::pair<int64_t, int64_t> stored_place(int64_t y, int64_t x, Size stored, int orientation) {
  const int64_t last_row = stored.height - 1, last_column = stored.width - 1;
  switch (orientation) {
    case 1:
      return {y, x};
    case 2:
      return {y, last_column - x};
    case 3:
      return {last_row - y, last_column - x};
    case 4:
      return {last_row - y, x};
    case 5:
      return {x, y};
    case 6:
      return {last_row - x, y};
    case 7:
      return {last_row - x, last_column - y};
    default:
      return {x, last_column - y};
  }
}

TEST(Orientation, pixels_turn_upright_as_exif_defines) {
  for (const Size stored : {Size{1, 1}, Size{1, 5}, Size{4, 1}, Size{3, 7}, Size{70, 41}}) {
    for (const int64_t channels : {1, 3, 4}) {
      Pixels from(stored, channels, 3);
      std::iota(from.bytes.begin(), from.bytes.end(), uint8_t{0});
      for (int orientation = 1; orientation <= 8; ++orientation) {
        Pixels to(upright_size(stored, orientation), channels, 2);
        turn_upright(from.view, orientation, to.view);
        for (int64_t y = 0; y < to.view.height; ++y) {
          for (int64_t x = 0; x < to.view.width; ++x) {
            const auto [row, column] = stored_place(y, x, stored, orientation);
            const uint8_t* expected = from.view.row(row) + column * channels;
            ASSERT_TRUE(std::equal(expected, expected + channels, to.view.row(y) + x * channels))
                << "orientation " << orientation << " at " << y << ", " << x;
          }
          ASSERT_EQ(to.view.row(y)[to.view.width * channels], 0xee) << "wrote past the row";
        }
      }
    }
  }
}

TEST(Orientation, pixels_turn_upright_as_pillow_turns_them) {
  int turned = 0;
  for (const testing::GoldenImage& image : testing::golden_images()) {
    if (image.orientation == 1) continue;
    SCOPED_TRACE(image.name);
    const ConstImageView from{reinterpret_cast<const uint8_t*>(image.rgb.data()),
                              image.stored.height, image.stored.width, 3, image.stored.width * 3};
    Pixels to(upright_size(image.stored, image.orientation), 3, 0);
    turn_upright(from, image.orientation, to.view);
    EXPECT_TRUE(std::equal(to.bytes.begin(), to.bytes.end(),
                           reinterpret_cast<const uint8_t*>(image.upright.data())));
    ++turned;
  }
  EXPECT_GE(turned, 7);
}

// Turning the stored box gives the upright box of the turned image.
TEST(Orientation, boxes_map_to_the_pixels_they_show) {
  const Size stored{11, 17};
  Pixels from(stored, 3, 0);
  std::iota(from.bytes.begin(), from.bytes.end(), uint8_t{0});
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const Size size = upright_size(stored, orientation);
    Pixels upright(size, 3, 0);
    turn_upright(from.view, orientation, upright.view);
    for (const Box& box : {whole(size), Box{0, 0, 1, 1}, Box{2, 3, 5, 4}, Box{7, 0, 2, 9},
                           Box{size.height - 1, size.width - 1, 1, 1}}) {
      const Box part = to_stored(box, stored, orientation);
      ASSERT_TRUE(part.inside(stored));
      Pixels turned(box.size(), 3, 0);
      turn_upright(from.view.crop(part), orientation, turned.view);
      const ImageView expected = upright.view.crop(box);
      for (int64_t y = 0; y < box.height; ++y) {
        ASSERT_TRUE(
            std::equal(turned.view.row(y), turned.view.row(y) + box.width * 3, expected.row(y)))
            << "orientation " << orientation;
      }
    }
  }
}

TEST(Orientation, an_empty_image_is_already_upright) {
  const ImageView empty{nullptr, 0, 5, 3, 15};
  turn_upright(empty, 3, empty);
}

TEST(Orientation, what_exif_does_not_define_is_refused) {
  for (const int orientation : {0, 9, -1}) {
    EXPECT_THROW(to_stored({}, {}, orientation), InvalidArgumentError);
  }
}

TEST(Orientation, a_view_of_the_wrong_size_is_refused) {
  Pixels from({2, 3}, 3, 0), same({2, 3}, 3, 0), grey({3, 2}, 1, 0);
  EXPECT_THROW(turn_upright(from.view, 6, same.view), InvalidArgumentError);
  EXPECT_THROW(turn_upright(from.view, 6, grey.view), InvalidArgumentError);
}

}  // namespace
}  // namespace fuelrail
