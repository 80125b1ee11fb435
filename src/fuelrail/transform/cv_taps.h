// The pixels and weights of OpenCV's resizing in one direction. Private to the module.
// Source: OpenCV 4.8, modules/imgproc/src/resize.cpp; the functions' comments repeat the formulas.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "fuelrail/transform/cv_resize.h"

namespace fuelrail {

// Weights of the resizing filters are in fixed point with 11 bits.
inline constexpr int kCvWeightBits = 11;
inline constexpr int kCvWeightOne = 1 << kCvWeightBits;

// The weights in float32 of the cubic with a = -0.75 through 4 pixels, at x in [0, 1) after the
// second pixel.
std::array<float, 4> cv_cubic_weights(float x);

// The normalised weights in float32 of the Lanczos window with 4 lobes over 8 pixels, at x in [0,
// 1) after the fourth pixel.
std::array<float, 8> cv_lanczos4_weights(float x);

// The number of input pixels per output pixel, computed like OpenCV as 1 / (output / input).
double cv_scale(int64_t input, int64_t output);

// One direction of a resizing: `input` pixels become `output` pixels, of which
// [begin, begin + count) are computed.
struct CvDirection {
  int64_t input = 0;
  int64_t output = 0;
  int64_t begin = 0;
  int64_t count = 0;
};

// The input pixel of each output for nearest: floor(x * scale).
void cv_nearest(const CvDirection& direction, std::vector<int64_t>& pixels);

// For kLinear, kCubic, kLanczos4, and kArea if it enlarges (linear between the pixels' areas):
// output i is the weighted sum of `taps` adjacent pixels from first[i] on. A pixel outside the
// input stands for the edge pixel.
struct CvTaps {
  int64_t taps = 0;  // 2, 4 or 8
  std::vector<int32_t> first;
  std::vector<int16_t> weights;  // `taps` for each output; their sum is about 2048
};
void cv_taps(const CvDirection& direction, CvInterpolation interpolation, CvTaps& result);

// Adds the weights of pixels outside the input to those of the edge, so that the same sums use only
// pixels inside. If the input has fewer pixels than taps, first[i] is 0 and the weights after the
// input's end are 0.
void fold_edges(int64_t input, CvTaps& taps);

// For kArea if it shrinks: each output is the mean of the pixels that its area covers.
struct CvAreaTaps {
  int64_t taps = 0;  // the most taps of an output; weights of the others are padded with zeros
  std::vector<int32_t> first;
  std::vector<int32_t> count;
  std::vector<float> weights;  // `taps` for each output
};
void cv_area_taps(const CvDirection& direction, CvAreaTaps& result);

}  // namespace fuelrail
