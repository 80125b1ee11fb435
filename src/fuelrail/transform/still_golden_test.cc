// Compares with the results of the reference in NumPy, tests/golden/stills/make.py, which has the
// formula of the stills and describes the columns of stills.tsv, on every instruction set.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/testing/each_simd_target.h"
#include "fuelrail/transform/still_warp.h"

namespace fuelrail {
namespace {

// The planes of a numbered still, with rows that are longer than the plane.
class NumberedStill {
 public:
  NumberedStill(uint32_t number, int bits, int chroma, Size frame) {
    planes_ = {.planes = {}, .chroma = chroma, .bits = bits};
    const Size half = {chroma == 1 ? (frame.height + 1) / 2 : frame.height,
                       chroma == 3 ? frame.width : (frame.width + 1) / 2};
    for (uint32_t p = 0; p < (chroma == 0 ? 1u : 3u); ++p) {
      const Size size = p == 0 ? frame : half;
      if (bits > 8) {
        fill<uint16_t>(p, (3 * number + p + 1) * 2654435761u, size);
      } else {
        fill<uint8_t>(p, (3 * number + p + 1) * 2654435761u, size);
      }
    }
  }
  const Planes& planes() const { return planes_; }

 private:
  template <typename T>
  void fill(uint32_t p, uint32_t step, Size size) {
    constexpr int64_t kMore = 3;
    const int64_t stride = size.width + kMore;
    bytes_[p].assign(static_cast<size_t>(size.height * stride) * sizeof(T), std::byte{0xa5});
    auto* const values = reinterpret_cast<T*>(bytes_[p].data());
    uint32_t state = 0;
    for (int64_t i = 0; i < size.height * size.width; ++i) {
      state += step;
      values[i / size.width * stride + i % size.width] =
          static_cast<T>(state >> (32 - planes_.bits));
    }
    planes_.planes[p] = {bytes_[p].data(), stride * static_cast<int64_t>(sizeof(T)), size};
  }

  Planes planes_;
  std::vector<std::byte> bytes_[3];
};

float float_of(const std::string& text) { return std::strtof(text.c_str(), nullptr); }

// Returns: the checksum in the line, and that of the computed image.
std::pair<std::string, std::string> checksums(const std::string& line) {
  std::istringstream columns(line);
  uint32_t number = 0;
  int bits = 0, chroma = 0, image_bounds = 0, antialias = 0;
  Size frame, visible, output;
  StillParameters parameters;
  columns >> number >> bits >> chroma >> frame.height >> frame.width >> visible.height >>
      visible.width >> output.height >> output.width >> image_bounds >> antialias >>
      parameters.color;
  const std::vector<std::string> rest{std::istream_iterator<std::string>(columns), {}};
  EXPECT_EQ(rest.size(), 19u);
  for (size_t i = 0; i < 9; ++i) parameters.warp[i] = float_of(rest[i]);
  for (size_t c = 0; c < 3; ++c) {
    parameters.bias[c] = float_of(rest[9 + c]);
    parameters.norm[c] = float_of(rest[12 + c]);
    parameters.out_of_bounds[c] = float_of(rest[15 + c]);
  }
  const NumberedStill still(number, bits, chroma, frame);
  std::vector<float> image(static_cast<size_t>(3 * output.height * output.width));
  using Bounds = StillOptions::Bounds;
  warp_still(
      still.planes(), visible, parameters,
      {.bounds = image_bounds != 0 ? Bounds::kImage : Bounds::kFrame, .antialias = antialias != 0},
      output, image.data());
  char crc[9];
  std::snprintf(crc, sizeof crc, "%08x", crc32(std::as_bytes(std::span(image))));
  return {rest[18], crc};
}

TEST(StillGolden, images_equal_those_of_the_reference_bit_for_bit) {
  testing::on_each_simd_target([] {
    std::ifstream file(std::string(FUELRAIL_SOURCE_DIR) + "/tests/golden/stills/stills.tsv");
    ASSERT_TRUE(file);
    int count = 0;
    for (std::string line; std::getline(file, line); ++count) {
      const auto [expected, found] = checksums(line);
      EXPECT_EQ(found, expected) << line;
    }
    EXPECT_EQ(count, 83);
  });
}

}  // namespace
}  // namespace fuelrail
