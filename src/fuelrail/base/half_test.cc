#include "fuelrail/base/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>

namespace fuelrail {
namespace {

double value_of_half(uint16_t half) {
  const int exponent = half >> 10 & 31;
  const int significand = half & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(significand, -24) : std::ldexp(1024 + significand, exponent - 25);
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST(Half, every_half_and_the_floats_between_round_to_the_nearest_even) {
  for (uint32_t half = 0; half < 0x7bff; ++half) {
    const double low = value_of_half(static_cast<uint16_t>(half));
    const double high = value_of_half(static_cast<uint16_t>(half + 1));
    const auto middle = static_cast<float>((low + high) / 2);  // exact
    const auto even = static_cast<uint16_t>(half + (half & 1));
    ASSERT_EQ(to_half(static_cast<float>(low)), half);
    ASSERT_EQ(to_half(middle), even);
    ASSERT_EQ(to_half(std::nextafterf(middle, 0.0f)), half);
    ASSERT_EQ(to_half(std::nextafterf(middle, 1e9f)), half + 1);
    ASSERT_EQ(to_half(-middle), even | 0x8000);
  }
  EXPECT_EQ(to_half(65504.0f), 0x7bff);
  EXPECT_EQ(to_half(65519.996f), 0x7bff);
  EXPECT_EQ(to_half(65520.0f), 0x7c00);
  EXPECT_EQ(to_half(-INFINITY), 0xfc00);
  EXPECT_EQ(to_half(0x1p-25f), 0);
  EXPECT_EQ(to_half(0x1.8p-25f), 1);
  EXPECT_EQ(to_half(1e-40f), 0);
}

TEST(Half, every_half_is_the_float_of_the_same_value) {
  for (uint32_t half = 0; half < 0x7c00; ++half) {
    const double value = value_of_half(static_cast<uint16_t>(half));
    ASSERT_EQ(from_half(static_cast<uint16_t>(half)), value);
    const float negative = from_half(static_cast<uint16_t>(half | 0x8000));
    ASSERT_EQ(negative, -value);
    ASSERT_TRUE(std::signbit(negative));
  }
  EXPECT_EQ(from_half(0x7c00), INFINITY);
  EXPECT_EQ(from_half(0xfc00), -INFINITY);
  for (uint32_t payload = 1; payload < 0x400; ++payload) {
    const float nan = from_half(static_cast<uint16_t>(0xfc00 | payload));
    ASSERT_EQ(std::bit_cast<uint32_t>(nan), 0xff800000u | payload << 13);
  }
}

TEST(Bfloat16, every_bfloat16_and_the_floats_between_round_to_the_nearest_even) {
  for (uint32_t word = 0; word < 0x7f80; ++word) {
    const float low = std::bit_cast<float>(word << 16);
    const float middle = std::bit_cast<float>(word << 16 | 0x8000);
    const auto even = static_cast<uint16_t>(word + (word & 1));
    ASSERT_EQ(to_bfloat16(low), word);
    ASSERT_EQ(to_bfloat16(middle), even);
    ASSERT_EQ(to_bfloat16(std::bit_cast<float>(word << 16 | 0x7fff)), word);
    ASSERT_EQ(to_bfloat16(std::bit_cast<float>(word << 16 | 0x8001)), word + 1);
    ASSERT_EQ(to_bfloat16(-middle), even | 0x8000);
  }
  EXPECT_EQ(to_bfloat16(INFINITY), 0x7f80);
  EXPECT_EQ(to_bfloat16(-INFINITY), 0xff80);
  EXPECT_EQ(to_bfloat16(3.4e38f), 0x7f80);
}

}  // namespace
}  // namespace fuelrail
