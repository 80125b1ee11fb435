#include "fuelrail/transform/portable_math.h"

#include <cmath>
#include <cstdint>

namespace fuelrail {
namespace {

// ln 2 as a sum. kLn2High has 33 significant bits, so its product with a small integer is exact.
constexpr double kLn2High = 0x1.62e42feep-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
constexpr double kInverseLn2 = 0x1.71547652b82fep+0;

}  // namespace

double portable_exp(double x) {
  // x = k ln 2 + r with |r| <= ln 2 / 2; the Taylor series of e^r, down to r^14 / 14! < 2^-57.
  const double k = round_half_even(x * kInverseLn2);
  const double r = (x - k * kLn2High) - k * kLn2Low;
  double tail = 1.0;
  for (int n = 14; n >= 2; --n) tail = 1.0 + tail * r / n;
  return std::ldexp(1.0 + r * tail, static_cast<int>(k));  // ldexp is exact here
}

double portable_log(double x) {
  // x = m 2^k with m in [sqrt(1/2), sqrt(2)); log m = 2 artanh((m - 1) / (m + 1)).
  int k = 0;
  double m = std::frexp(x, &k);  // exact
  if (m < 0x1.6a09e667f3bcdp-1) {
    m *= 2;
    --k;
  }
  const double f = m - 1.0;
  const double s = f / (m + 1.0);
  const double z = s * s;
  double series = 0.0;
  for (int n = 23; n >= 3; n -= 2) series = z * (1.0 / n + series);
  // 2 s (1 + series) = f - s (f - 2 series): this keeps the large term, f, exact.
  return k * kLn2High + (f - s * (f - 2.0 * series) + k * kLn2Low);
}

SineCosine portable_sine_cosine(double degrees) {
  const double quarters = round_half_even(degrees / 90.0);
  const double x = (degrees - 90.0 * quarters) * 0x1.1df46a2529d39p-6;  // pi / 180; |x| <= pi / 4
  const double z = x * x;
  double sine = 1.0;  // Taylor series, down to x^19 / 19! < 2^-62
  for (int n = 19; n >= 3; n -= 2) sine = 1.0 - sine * z / ((n - 1) * n);
  double cosine = 1.0;
  for (int n = 18; n >= 2; n -= 2) cosine = 1.0 - cosine * z / ((n - 1) * n);
  sine *= x;
  switch (static_cast<int64_t>(quarters) & 3) {
    case 0:
      return {sine, cosine};
    case 1:
      return {cosine, -sine};
    case 2:
      return {-sine, -cosine};
    default:
      return {-cosine, sine};
  }
}

double round_half_even(double x) {
  const double below = std::floor(x);
  const double past = x - below;  // exact
  if (past < 0.5) return below;
  if (past > 0.5) return below + 1.0;
  return std::fmod(below, 2.0) == 0.0 ? below : below + 1.0;
}

}  // namespace fuelrail
