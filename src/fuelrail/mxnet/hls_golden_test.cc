// Compares Augmenter's hue, saturation and lightness with MXNet 1.9.1's output
// (tests/golden/mxnet/make_hls.py), at widths that are not multiples of four pixels, on every
// instruction set.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fuelrail/mxnet/augmenter.h"
#include "fuelrail/mxnet/output.h"
#include "fuelrail/testing/each_simd_target.h"
#include "fuelrail/testing/mxnet_golden.h"

namespace fuelrail::mxnet {
namespace {

class GoldenHls : public ::testing::TestWithParam<int> {};

TEST_P(GoldenHls, equals_mxnet) {
  const auto arrays = testing::read_npz(mxnet_golden("hls.npz"));
  const testing::NpyArray& pixels = arrays.at("rgb" + std::to_string(GetParam()));
  const testing::NpyArray& golden = arrays.at("made" + std::to_string(GetParam()));
  const int64_t height = pixels.shape[0], width = pixels.shape[1];
  const ConstImageView picture{reinterpret_cast<const uint8_t*>(pixels.bytes.data()), height, width,
                               3, 3 * width};
  const MxShape shape{3, height, width};
  AugmentOptions options;
  options.random_h = 60;
  options.random_s = 70;
  options.random_l = 50;
  Augmenter augmenter(options, shape);
  OutputWriter writer({.dtype = DType::kUint8}, shape);
  std::vector<std::byte> row(writer.row_bytes());
  testing::on_each_simd_target([&] {
    for (size_t seed = 0; seed < golden.rows(); ++seed) {
      SeededDraws draws(static_cast<int32_t>(seed), 0);
      writer.write(augmenter.augment(picture, draws), draws, row.data());
      EXPECT_EQ(difference(row, golden, seed), "") << "seed " << seed;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Mxnet, GoldenHls, ::testing::Values(1, 2, 3, 4, 5, 6, 7, 18, 259),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace fuelrail::mxnet
