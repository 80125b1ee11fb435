#include "fuelrail/mxnet/output.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/each_simd_target.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail::mxnet {
namespace {

using testing::on_each_simd_target;
using testing::refusal_of;

constexpr std::array<float, 4> kMean{123.68f, 116.78f, 103.94f, 3};
constexpr std::array<float, 4> kStd{58.4f, 57.12f, 57.38f, 2};

// An image with all 256 levels, and with padding bytes between its rows.
struct LevelImage {
  LevelImage(const MxShape& shape)
      : bytes(static_cast<size_t>(shape.height * (shape.width * shape.channels + 5))) {
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 37 + 11);
    view = {bytes.data(), shape.height, shape.width, shape.channels,
            shape.width * shape.channels + 5};
  }
  int level(int64_t channel, int64_t y, int64_t x) const {
    return view.row(y)[x * view.channels + channel];
  }
  std::vector<uint8_t> bytes;
  ConstImageView view;
};

std::shared_ptr<const MeanImage> some_mean(const MxShape& shape) {
  auto mean = std::make_shared<MeanImage>();
  mean->shape = shape;
  for (int64_t i = 0; i < shape.elements(); ++i) {
    mean->values.push_back(static_cast<float>(i % 97) * 1.5f);
  }
  return mean;
}

// Writes the image with and without mirroring, and compares it with `expected(channel, y, x,
// level)` of the source pixels.
template <typename Element, typename Expected>
void expect_rows(OutputOptions options, const MxShape& shape, Expected expected) {
  const LevelImage image(shape);
  for (const bool mirror : {false, true}) {
    options.mirror = mirror && !options.detection;
    OutputWriter writer(options, shape);
    ASSERT_EQ(writer.row_bytes(), static_cast<size_t>(shape.elements()) * sizeof(Element));
    std::vector<Element> row(static_cast<size_t>(shape.elements()));
    CountedDraws draws(Philox(3, 0, 0));
    writer.write(image.view, draws, reinterpret_cast<std::byte*>(row.data()));
    size_t at = 0;
    for (int64_t c = 0; c < shape.channels; ++c) {
      for (int64_t y = 0; y < shape.height; ++y) {
        for (int64_t x = 0; x < shape.width; ++x, ++at) {
          const int64_t source = options.mirror ? shape.width - 1 - x : x;
          ASSERT_EQ(row[at], expected(c, y, source, image.level(c, y, source)))
              << "channel " << c << ", row " << y << ", column " << x << ", mirror " << mirror;
        }
      }
    }
  }
}

// Widths below, equal to and between multiples of the kernels' step.
template <typename Body>
void for_each_shape(Body body) {
  for (const int64_t channels : {1, 3, 4}) {
    for (const int64_t width : {1, 15, 16, 17, 33, 48}) body(MxShape{channels, 3, width});
  }
}

TEST(OutputWriter, floats_are_centred_and_scaled_in_float32_on_every_instruction_set) {
  on_each_simd_target([] {
    for_each_shape([](const MxShape& shape) {
      const OutputOptions options{.mean = kMean, .std = kStd, .scale = 0.5f};
      expect_rows<float>(options, shape, [](int64_t c, int64_t, int64_t, int level) {
        const auto at = static_cast<size_t>(c);
        return (static_cast<float>(level) - kMean[at]) * (0.5f / kStd[at]) + 0.0f;
      });
    });
  });
}

TEST(OutputWriter, mean_image_goes_before_means_and_before_mirroring) {
  on_each_simd_target([] {
    for_each_shape([](const MxShape& shape) {
      const auto mean = some_mean(shape);
      const OutputOptions options{.mean = kMean, .std = kStd, .mean_image = mean};
      expect_rows<float>(options, shape, [&](int64_t c, int64_t y, int64_t x, int level) {
        const auto at = static_cast<size_t>((c * shape.height + y) * shape.width + x);
        return (static_cast<float>(level) - mean->values[at]) *
               (1.0f / kStd[static_cast<size_t>(c)]);
      });
    });
  });
}

TEST(OutputWriter, detection_divides_by_std_and_multiplies_by_scale) {
  on_each_simd_target([] {
    for_each_shape([](const MxShape& shape) {
      const OutputOptions options{
          .mean = kMean, .std = {3, 0, 7, -1}, .scale = 0.3f, .detection = true};
      constexpr std::array<float, 4> kDivisors{3, 1, 7, 1};
      expect_rows<float>(options, shape, [&](int64_t c, int64_t, int64_t, int level) {
        const auto at = static_cast<size_t>(c);
        return (static_cast<float>(level) - kMean[at]) / kDivisors[at] * 0.3f;
      });
    });
  });
}

TEST(OutputWriter, detection_takes_the_mean_image_unless_a_mean_is_above_zero) {
  const MxShape shape{3, 3, 17};
  const auto mean = some_mean(shape);
  OutputOptions options{.mean = {0, -5, 0, 0}, .mean_image = mean, .detection = true};
  expect_rows<float>(options, shape, [&](int64_t c, int64_t y, int64_t x, int level) {
    const auto at = static_cast<size_t>((c * shape.height + y) * shape.width + x);
    return static_cast<float>(level) - mean->values[at];
  });
  options.mean = {0, -5, 9, 0};
  expect_rows<float>(options, shape, [&](int64_t c, int64_t, int64_t, int level) {
    return static_cast<float>(level) - options.mean[static_cast<size_t>(c)];
  });
  options.mean = {0, -5, 0, 0};
  options.mean_image = nullptr;
  expect_rows<float>(options, shape, [](int64_t, int64_t, int64_t, int level) {
    return static_cast<float>(level);
  });
}

TEST(OutputWriter, bytes_are_the_levels) {
  on_each_simd_target([] {
    for_each_shape([](const MxShape& shape) {
      OutputOptions options{.dtype = DType::kUint8, .mean = kMean, .scale = 9};
      options.mean_image = some_mean(shape);
      expect_rows<uint8_t>(options, shape, [](int64_t, int64_t, int64_t, int level) {
        return static_cast<uint8_t>(level);
      });
    });
  });
}

TEST(OutputWriter, signed_bytes_are_cut_after_a_rounded_mean) {
  on_each_simd_target([] {
    for_each_shape([](const MxShape& shape) {
      const OutputOptions options{.dtype = DType::kInt8, .mean = {127.5f, 0.4f, -0.5f, 300}};
      constexpr std::array<int, 4> kRounded{128, 0, -1, 300};
      expect_rows<int8_t>(options, shape, [&](int64_t c, int64_t, int64_t, int level) {
        return static_cast<int8_t>(std::clamp(level - kRounded[static_cast<size_t>(c)], -128, 127));
      });
      OutputOptions pixelwise{.dtype = DType::kInt8, .mean = kMean};
      pixelwise.mean_image = some_mean(shape);
      expect_rows<int8_t>(pixelwise, shape, [&](int64_t c, int64_t y, int64_t x, int level) {
        const auto at = static_cast<size_t>((c * shape.height + y) * shape.width + x);
        const auto mean = static_cast<int>(std::round(pixelwise.mean_image->values[at]));
        return static_cast<int8_t>(std::clamp(level - mean, -128, 127));
      });
    });
  });
}

TEST(OutputWriter, noise_takes_a_number_for_contrast_and_one_for_illumination) {
  const MxShape shape{3, 2, 20};
  const OutputOptions options{.mean = kMean,
                              .std = kStd,
                              .scale = 2,
                              .max_random_contrast = 0.2f,
                              .max_random_illumination = 10};
  CountedDraws draws(Philox(3, 0, 0));
  const float contrast = (draws.unit() * 0.2f * 2 - 0.2f + 1) * 2;
  const float illumination = (draws.unit() * 10 * 2 - 10) * 2;
  expect_rows<float>(options, shape, [&](int64_t c, int64_t, int64_t, int level) {
    const auto at = static_cast<size_t>(c);
    return (static_cast<float>(level) - kMean[at]) * (contrast / kStd[at]) +
           illumination / kStd[at];
  });
}

TEST(OutputWriter, half_of_the_images_are_mirrored_by_a_coin_that_comes_first) {
  const MxShape shape{1, 1, 2};
  const std::vector<uint8_t> pixels{1, 2};
  const ConstImageView image{pixels.data(), 1, 2, 1, 2};
  OutputWriter writer({.dtype = DType::kUint8, .rand_mirror = true}, shape);
  int mirrored = 0;
  for (uint64_t sample = 0; sample < 1000; ++sample) {
    CountedDraws draws(Philox(3, 0, sample));
    std::array<std::byte, 2> row{};
    writer.write(image, draws, row.data());
    CountedDraws coin(Philox(3, 0, sample));
    const bool turned = row[0] == std::byte{2};
    EXPECT_EQ(turned, coin.coin());
    EXPECT_EQ(draws.bits(), coin.bits());  // uint8 draws no more words
    mirrored += turned ? 1 : 0;
  }
  EXPECT_NEAR(mirrored, 500, 60);
}

TEST(OutputOptions, refusal_names_the_parameter) {
  const MxShape shape{3, 4, 4};
  const auto refusal = [&](const OutputOptions& options) {
    return refusal_of<InvalidArgumentError>([&] { check(options, shape); });
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(refusal({.mean = {0, nan, 0, 0}}).starts_with("`mean_g` is out of range"));
  EXPECT_EQ(refusal({.std = {1, 1, 0, 1}}),
            "`std_b` is out of range: expected a number other than 0, found 0");
  EXPECT_TRUE(refusal({.scale = nan}).starts_with("`scale` "));
  EXPECT_TRUE(refusal({.max_random_contrast = -1}).starts_with("`max_random_contrast` "));
  EXPECT_TRUE(refusal({.max_random_illumination = nan}).starts_with("`max_random_illumination` "));
  EXPECT_EQ(refusal({.mean_image = some_mean({3, 4, 5})}),
            "the mean image does not have the shape of the images: expected (3, 4, 4), found (3, "
            "4, 5)");
  const MeanImage short_mean{.shape = shape, .values = std::vector<float>(47)};
  EXPECT_EQ(
      refusal({.mean_image = std::make_shared<const MeanImage>(short_mean)}),
      "the number of values in the mean image does not match its shape: expected 48, found 47");
  EXPECT_TRUE(refusal({.rand_mirror = true, .detection = true}).starts_with("detection supports "));
  check(OutputOptions{.std = {0, 0, 0, 0}, .detection = true}, shape);
}

}  // namespace
}  // namespace fuelrail::mxnet
