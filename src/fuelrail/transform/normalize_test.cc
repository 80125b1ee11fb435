#include "fuelrail/transform/normalize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <memory>
#include <string>

#include "fuelrail/base/error.h"
#include "fuelrail/base/half.h"
#include "fuelrail/testing/each_simd_target.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail {
namespace {

const Normalize kImageNet{{0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}};

// An image of every level in every channel; rows are padded, the last one is not.
class Levels {
 public:
  Levels(int64_t height, int64_t width)
      : stride_(width * 3 + 5),
        bytes_(new uint8_t[static_cast<size_t>((height - 1) * stride_ + width * 3)]),
        view_{bytes_.get(), height, width, 3, stride_} {
    for (int64_t y = 0; y < height; ++y) {
      for (int64_t i = 0; i < width * 3; ++i) {
        bytes_[static_cast<size_t>(y * stride_ + i)] =
            static_cast<uint8_t>((y * width * 3 + i) * 7);
      }
    }
  }
  ConstImageView view() const { return view_; }

 private:
  int64_t stride_;
  std::unique_ptr<uint8_t[]> bytes_;
  ConstImageView view_;
};

// ToTensor and Normalize of torchvision, one value. volatile: each operation rounds to float.
float torchvision(uint8_t level, const Normalize& normalize, size_t c) {
  volatile float value = static_cast<float>(level) / 255.0f;
  value = value - normalize.mean[c];
  value = value / normalize.std[c];
  return value;
}

template <typename Element>
Element expected_element(uint8_t level, const PixelFormat& format, size_t c) {
  const Normalize normalize = format.normalize.value_or(Normalize{});
  if constexpr (sizeof(Element) == 1) return level;
  if constexpr (sizeof(Element) == 4)
    return std::bit_cast<Element>(torchvision(level, normalize, c));
  if constexpr (sizeof(Element) == 2) {
    const float value = torchvision(level, normalize, c);
    return format.dtype == DType::kBfloat16 ? to_bfloat16(value) : to_half(value);
  }
}

// Compares every element, as bits, with the definition.
template <typename Element>
void expect_written_to(Element* to, const PixelFormat& format, int64_t height, int64_t width,
                       bool horizontal, bool vertical) {
  const Levels image(height, width);
  const int64_t plane = height * width;
  PixelWriter(format).write(image.view(), horizontal, vertical, reinterpret_cast<std::byte*>(to));
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      for (int64_t c = 0; c < 3; ++c) {
        const int64_t from_y = vertical ? height - 1 - y : y;
        const int64_t from_x = horizontal ? width - 1 - x : x;
        const uint8_t level = image.view().row(from_y)[3 * from_x + c];
        const int64_t at = format.layout == ImageLayout::kNhwc ? (y * width + x) * 3 + c
                                                               : c * plane + y * width + x;
        ASSERT_EQ(to[at], expected_element<Element>(level, format, static_cast<size_t>(c)))
            << "row " << y << ", column " << x << ", channel " << c;
      }
    }
  }
}

struct alignas(64) CacheLine {
  std::byte bytes[64];
};

// Into memory whose bounds are exact, and into aligned memory.
template <typename Element>
void expect_written(const PixelFormat& format, int64_t height, int64_t width, bool horizontal,
                    bool vertical) {
  const auto elements = static_cast<size_t>(3 * height * width);
  const std::unique_ptr<Element[]> exact(new Element[elements]);
  const std::unique_ptr<CacheLine[]> aligned(new CacheLine[elements]);
  for (Element* to : {exact.get(), reinterpret_cast<Element*>(aligned.get())}) {
    expect_written_to(to, format, height, width, horizontal, vertical);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

template <typename Element>
void expect_every_size_and_flip(PixelFormat format) {
  for (const ImageLayout layout : {ImageLayout::kNchw, ImageLayout::kNhwc}) {
    format.layout = layout;
    for (const int64_t width : {1, 3, 15, 16, 17, 31, 33, 64, 100}) {
      for (const int64_t height : {1, 2, 5}) {
        for (const int flips : {0, 1, 2, 3}) {
          SCOPED_TRACE(::testing::Message() << height << "x" << width << " flips " << flips);
          expect_written<Element>(format, height, width, (flips & 1) != 0, (flips & 2) != 0);
          if (::testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(PixelWriter, float32_equals_torchvision_to_the_bit_on_every_target) {
  testing::on_each_simd_target([] {
    expect_every_size_and_flip<uint32_t>({.normalize = kImageNet});
    expect_every_size_and_flip<uint32_t>(
        {.normalize = Normalize{{0.1f, -3, 7e5f}, {-2, 1e-30f, 3}}});
    expect_every_size_and_flip<uint32_t>({});
  });
}

TEST(PixelWriter, float16_is_float32_rounded_to_even_on_every_target) {
  testing::on_each_simd_target([] {
    expect_every_size_and_flip<uint16_t>({.dtype = DType::kFloat16, .normalize = kImageNet});
    // Subnormal halves, and ones beyond the largest.
    expect_every_size_and_flip<uint16_t>(
        {.dtype = DType::kFloat16,
         .normalize = Normalize{{0.5f, 0.5f, 0.5f}, {3e4f, 1e-6f, 1e9f}}});
    expect_every_size_and_flip<uint16_t>({.dtype = DType::kFloat16});
  });
}

TEST(PixelWriter, bfloat16_is_float32_rounded_to_even_on_every_target) {
  testing::on_each_simd_target([] {
    expect_every_size_and_flip<uint16_t>({.dtype = DType::kBfloat16, .normalize = kImageNet});
    // Subnormal floats, and ones beyond the largest.
    expect_every_size_and_flip<uint16_t>(
        {.dtype = DType::kBfloat16,
         .normalize = Normalize{{0.5f, 0.5f, 0.5f}, {1e38f, 1.5e-39f, 1e-3f}}});
    expect_every_size_and_flip<uint16_t>({.dtype = DType::kBfloat16});
    expect_written<uint16_t>({.dtype = DType::kBfloat16, .normalize = kImageNet}, 16, 48, false,
                             false);
  });
}

TEST(PixelWriter, uint8_is_only_laid_out) {
  testing::on_each_simd_target(
      [] { expect_every_size_and_flip<uint8_t>({.dtype = DType::kUint8}); });
}

TEST(PixelWriter, every_level_of_every_channel_is_exact) {
  // 16 x 48 pixels hold each level in each channel: 7 is coprime to 256.
  testing::on_each_simd_target(
      [] { expect_written<uint32_t>({.normalize = kImageNet}, 16, 48, false, false); });
}

std::string refusal(const PixelFormat& format) {
  return testing::refusal_of<InvalidArgumentError>([&] { PixelWriter writer(format); });
}

TEST(PixelWriter, normalize_with_uint8_output_is_refused) {
  EXPECT_THAT(refusal({.dtype = DType::kUint8, .normalize = kImageNet}),
              ::testing::AllOf(::testing::HasSubstr("Normalize"), ::testing::HasSubstr("uint8"),
                               ::testing::HasSubstr("float32")));
}

TEST(PixelWriter, other_element_types_are_refused) {
  EXPECT_THAT(refusal({.dtype = DType::kInt64}), ::testing::HasSubstr("int64"));
  EXPECT_THAT(refusal({.dtype = DType::kBool}), ::testing::HasSubstr("bool"));
}

}  // namespace
}  // namespace fuelrail
