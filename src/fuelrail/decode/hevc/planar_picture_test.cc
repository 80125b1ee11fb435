#include "fuelrail/decode/hevc/planar_picture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace fuelrail::hevc {
namespace {

// A picture with memory of its own, of values that repeat nowhere.
template <typename T>
struct Made {
  Made(Size size, int chroma, int bits) {
    picture.chroma = chroma;
    picture.bits = bits;
    const int64_t x = chroma == 1 || chroma == 2 ? 2 : 1, y = chroma == 1 ? 2 : 1;
    const Size part{(size.height + y - 1) / y, (size.width + x - 1) / x};
    for (size_t i = 0; i < (chroma == 0 ? 1 : 3); ++i) {
      const Size own = i == 0 ? size : part;
      const int64_t stride = own.width + 3;
      memory[i].resize(static_cast<size_t>(own.height * stride));
      for (size_t at = 0; at < memory[i].size(); ++at) {
        memory[i][at] = static_cast<T>((at * 2654435761 + i * 40503) >> 7 & ((1u << bits) - 1));
      }
      picture.planes[i] = {reinterpret_cast<const std::byte*>(memory[i].data()),
                           stride * static_cast<ptrdiff_t>(sizeof(T)), own};
    }
  }

  double value(size_t plane, int64_t y, int64_t x) const {
    const Size size = picture.planes[plane].size;
    y = std::clamp<int64_t>(y, 0, size.height - 1);
    x = std::clamp<int64_t>(x, 0, size.width - 1);
    return memory[plane][static_cast<size_t>(y * (size.width + 3) + x)];
  }

  // The chroma at a position of luma, by the definition of linear interpolation.
  double chroma(size_t plane, int64_t y, int64_t x) const {
    const bool halves_x = picture.chroma == 1 || picture.chroma == 2;
    const double at_x =
        halves_x ? (static_cast<double>(x) -
                    (picture.siting == Siting::kCentre && picture.chroma == 1 ? 0.5 : 0)) /
                       2
                 : static_cast<double>(x);
    const double at_y =
        picture.chroma == 1
            ? (static_cast<double>(y) - (picture.siting == Siting::kTopLeft ? 0 : 0.5)) / 2
            : static_cast<double>(y);
    const double left = std::floor(at_x), top = std::floor(at_y);
    const double u = at_x - left, v = at_y - top;
    const auto at = [&](double dy, double dx) {
      return value(plane, static_cast<int64_t>(top + dy), static_cast<int64_t>(left + dx));
    };
    return (1 - v) * ((1 - u) * at(0, 0) + u * at(0, 1)) + v * ((1 - u) * at(1, 0) + u * at(1, 1));
  }

  // ITU-T H.265, equations E-29 to E-46, solved for red, green and blue.
  std::vector<double> rgb(int64_t y, int64_t x) const {
    const double unit = 1 << (picture.bits - 8), most = (1 << picture.bits) - 1;
    const bool full = picture.full_range;
    const double luma = (value(0, y, x) - (full ? 0 : 16 * unit)) / (full ? most : 219 * unit);
    if (picture.chroma == 0) return {luma, luma, luma};
    if (picture.matrix == Matrix::kRgb) {
      const auto plane = [&](size_t i) {
        return (value(i, y, x) - (full ? 0 : 16 * unit)) / (full ? most : 219 * unit);
      };
      return {plane(2), luma, plane(1)};
    }
    const auto part = [&](size_t i) {
      return (chroma(i, y, x) - 128 * unit) / (full ? most : 224 * unit);
    };
    double kr = 0.299, kb = 0.114;
    if (picture.matrix == Matrix::kBt709) kr = 0.2126, kb = 0.0722;
    if (picture.matrix == Matrix::kBt2020) kr = 0.2627, kb = 0.0593;
    const double red = luma + 2 * (1 - kr) * part(2);
    const double blue = luma + 2 * (1 - kb) * part(1);
    return {red, (luma - kr * red - kb * blue) / (1 - kr - kb), blue};
  }

  PlanarPicture picture;
  std::vector<T> memory[3];
};

std::vector<uint8_t> converted(const PlanarPicture& picture, Box box, int64_t channels = 3) {
  std::vector<uint8_t> pixels(static_cast<size_t>(box.height * box.width * channels));
  to_pixels(picture, box, {pixels.data(), box.height, box.width, channels, box.width * channels});
  return pixels;
}

// Rounding to the other side is allowed within a thousandth of the middle.
bool agrees(uint8_t found, double expected) {
  const double level = std::clamp(expected, 0.0, 1.0) * 255;
  return std::abs(found - level) <= 0.501;
}

template <typename T>
void expect_exact(Made<T>& made) {
  const Size size = made.picture.planes[0].size;
  const std::vector<uint8_t> pixels = converted(made.picture, whole(size));
  for (int64_t y = 0; y < size.height; ++y) {
    for (int64_t x = 0; x < size.width; ++x) {
      const std::vector<double> expected = made.rgb(y, x);
      for (size_t c = 0; c < 3; ++c) {
        const uint8_t found = pixels[static_cast<size_t>((y * size.width + x) * 3) + c];
        ASSERT_TRUE(agrees(found, expected[c])) << y << ", " << x << ", channel " << c << ": "
                                                << int{found} << ", expected " << expected[c] * 255;
      }
    }
  }
}

TEST(PlanarPicture, becomes_rgb_by_the_standard) {
  for (const int chroma : {0, 1, 2, 3}) {
    for (const Siting siting : {Siting::kLeft, Siting::kCentre, Siting::kTopLeft}) {
      for (const Matrix matrix : {Matrix::kBt601, Matrix::kBt709, Matrix::kBt2020, Matrix::kRgb}) {
        if (matrix == Matrix::kRgb && chroma != 3) continue;
        for (const bool full_range : {true, false}) {
          Made<uint8_t> made({13, 18}, chroma, 8);
          Made<uint16_t> deep({6, 5}, chroma, 10);
          for (PlanarPicture* picture : {&made.picture, &deep.picture}) {
            picture->siting = siting;
            picture->matrix = matrix;
            picture->full_range = full_range;
          }
          expect_exact(made);
          expect_exact(deep);
        }
      }
    }
  }
}

TEST(PlanarPicture, grey_is_its_luma) {
  Made<uint8_t> made({4, 6}, 1, 8);
  const std::vector<uint8_t> grey = converted(made.picture, whole({4, 6}), 1);
  for (int64_t y = 0; y < 4; ++y) {
    for (int64_t x = 0; x < 6; ++x) {
      EXPECT_EQ(grey[static_cast<size_t>(y * 6 + x)], made.value(0, y, x));
    }
  }
}

TEST(PlanarPicture, grey_of_rgb_is_weighted) {
  Made<uint8_t> made({1, 1}, 3, 8);
  made.picture.matrix = Matrix::kRgb;
  made.memory[0][0] = made.memory[1][0] = 0;
  made.memory[2][0] = 255;  // red
  EXPECT_EQ(converted(made.picture, whole({1, 1}), 1)[0], 76);
}

TEST(PlanarPicture, boxes_equal_the_whole) {
  for (const int chroma : {0, 1, 2, 3}) {
    Made<uint8_t> made({16, 16}, chroma, 8);
    const std::vector<uint8_t> all = converted(made.picture, whole({16, 16}));
    for (const Box box : {Box{0, 0, 1, 1}, Box{3, 5, 7, 6}, Box{15, 15, 1, 1}, Box{1, 0, 2, 16}}) {
      const std::vector<uint8_t> part = converted(made.picture, box);
      for (int64_t y = 0; y < box.height; ++y) {
        const auto from = all.begin() + ((box.top + y) * 16 + box.left) * 3;
        const auto row = part.begin() + y * box.width * 3;
        EXPECT_TRUE(std::equal(row, row + box.width * 3, from)) << chroma << ", row " << y;
      }
    }
  }
}

}  // namespace
}  // namespace fuelrail::hevc
