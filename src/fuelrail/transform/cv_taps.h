// Which pixels one direction of OpenCV's resizing takes, with what weights. Private to the module.
// Source: OpenCV 4.8, modules/imgproc/src/resize.cpp; the formulas are repeated at the functions.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "fuelrail/transform/cv_resize.h"

namespace fuelrail {

// Weights of the resizing filters have 11 bits of fixed point.
inline constexpr int kCvWeightBits = 11;
inline constexpr int kCvWeightOne = 1 << kCvWeightBits;

// The cubic of a = -0.75 through 4 pixels, at x in [0, 1) behind the second; in float32.
std::array<float, 4> cv_cubic_weights(float x);

// Lanczos' window of 4 lobes over 8 pixels, at x in [0, 1) behind the fourth; normalised, float32.
std::array<float, 8> cv_lanczos4_weights(float x);

// Input pixels for one output pixel, as OpenCV counts them: the inverse of the inverse.
double cv_scale(int64_t input, int64_t output);

// One direction of a resizing: `input` pixels become `output`, of which [begin, begin + count) are
// made.
struct CvDirection {
  int64_t input = 0;
  int64_t output = 0;
  int64_t begin = 0;
  int64_t count = 0;
};

// The input pixel that nearest takes for each output: floor(x * scale).
void cv_nearest(const CvDirection& direction, std::vector<int64_t>& pixels);

// kLinear, kCubic, kLanczos4, and kArea where it enlarges (linear between the pixels' areas):
// output i is the sum of `taps` neighbours from first[i] on, which may lie outside the input and
// then mean its edge.
struct CvTaps {
  int64_t taps = 0;  // 2, 4 or 8
  std::vector<int32_t> first;
  std::vector<int16_t> weights;  // `taps` for each output; their sum is 2048 or next to it
};
void cv_taps(const CvDirection& direction, CvInterpolation interpolation, CvTaps& result);

// Moves what lies outside the input to its edge: the same sums, of pixels inside alone. Where the
// input has fewer pixels than there are taps, first[i] is 0 and weights behind its end are 0.
void fold_edges(int64_t input, CvTaps& taps);

// kArea where it shrinks: each output is the mean of what its area covers.
struct CvAreaTaps {
  int64_t taps = 0;  // of the widest output; the weights of the others end in zeros
  std::vector<int32_t> first;
  std::vector<int32_t> count;
  std::vector<float> weights;  // `taps` for each output
};
void cv_area_taps(const CvDirection& direction, CvAreaTaps& result);

}  // namespace fuelrail
