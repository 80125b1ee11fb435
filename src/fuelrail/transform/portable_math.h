// exp, log, sine, cosine and Python's round(), using only additions, multiplications and divisions
// of doubles. Unlike libm's, the results are bit-identical on every processor and with every C
// library. They determine crop boxes, so changing a result would change users' augmented epochs.
#pragma once

namespace fuelrail {

// Returns: e^x within 2 units in the last place. Requires: |x| <= 700.
double portable_exp(double x);

// Returns: the natural logarithm within 2 units in the last place. Requires: x > 0 and normal.
double portable_log(double x);

// Returns: sine and cosine of an angle, within 2^-52; exact for multiples of 90 degrees.
// Requires: |degrees| <= 10^9.
struct SineCosine {
  double sine = 0;
  double cosine = 1;
};
SineCosine portable_sine_cosine(double degrees);

// Returns: the nearest integer, ties to even (Python's round).
// Requires: |x| < 2^52.
double round_half_even(double x);

// As above, for the float of a pixel. (A float of 2^23 or more has no fractional bits.)
// Requires: |x| < 2^22.
inline float round_half_even(float x) { return (x + 0x1.8p23f) - 0x1.8p23f; }

}  // namespace fuelrail
