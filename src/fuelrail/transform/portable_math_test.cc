#include "fuelrail/transform/portable_math.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fuelrail {
namespace {

double ulps_apart(double a, double b) {
  const double ulp = std::nextafter(std::fabs(b), INFINITY) - std::fabs(b);
  return std::fabs(a - b) / ulp;
}

TEST(PortableMath, exp_agrees_with_libm_within_two_ulps) {
  for (int i = -200000; i <= 200000; ++i) {
    const double x = i * 0.00003517;
    ASSERT_LE(ulps_apart(portable_exp(x), std::exp(x)), 2.0) << x;
  }
  for (int i = -700; i <= 700; ++i) {
    ASSERT_LE(ulps_apart(portable_exp(i), std::exp(i)), 2.0) << i;
  }
  EXPECT_EQ(portable_exp(0.0), 1.0);
}

TEST(PortableMath, log_agrees_with_libm_within_two_ulps) {
  for (int i = 1; i <= 400000; ++i) {
    const double x = i * 0.0000317;
    ASSERT_LE(ulps_apart(portable_log(x), std::log(x)), 2.0) << x;
  }
  for (double x = 1e-300; x < 1e300; x *= 1.7) {
    ASSERT_LE(ulps_apart(portable_log(x), std::log(x)), 2.0) << x;
  }
  EXPECT_EQ(portable_log(1.0), 0.0);
}

TEST(PortableMath, round_takes_the_even_of_two_equally_near) {
  EXPECT_EQ(round_half_even(0.5), 0.0);
  EXPECT_EQ(round_half_even(1.5), 2.0);
  EXPECT_EQ(round_half_even(2.5), 2.0);
  EXPECT_EQ(round_half_even(-0.5), 0.0);
  EXPECT_EQ(round_half_even(-1.5), -2.0);
  EXPECT_EQ(round_half_even(2.4999), 2.0);
  EXPECT_EQ(round_half_even(2.5001), 3.0);
  for (int i = -1000; i <= 1000; ++i) {
    ASSERT_EQ(round_half_even(i / 4.0), std::nearbyint(i / 4.0)) << i;
    const float quarter = static_cast<float>(i) / 4;
    ASSERT_EQ(round_half_even(quarter), std::nearbyintf(quarter)) << i;
  }
}

}  // namespace
}  // namespace fuelrail
