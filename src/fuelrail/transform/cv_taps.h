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

// The float32 weights of 4 pixels in cubic interpolation (a = -0.75) at a distance x after the
// second pixel, with x in [0, 1).
std::array<float, 4> cv_cubic_weights(float x);

// The normalised float32 weights of 8 pixels in Lanczos interpolation (4 lobes) at a distance x
// after the fourth pixel, with x in [0, 1).
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

// For kNearest: the input pixel of each output x, floor(x * scale).
void cv_nearest(const CvDirection& direction, std::vector<int64_t>& pixels);

// For kLinear, kCubic, kLanczos4, and kArea if it enlarges (linear between the pixels' areas):
// output i is the weighted sum of `taps` adjacent pixels from first[i] on. A pixel outside the
// input has the value of the edge pixel.
struct CvTaps {
  int64_t taps = 0;  // 2, 4 or 8
  std::vector<int32_t> first;
  std::vector<int16_t> weights;  // `taps` for each output; their sum is about 2048
};
void cv_taps(const CvDirection& direction, CvInterpolation interpolation, CvTaps& result);

// Adds the weights of pixels outside the input to the weight of the edge pixel. The sums stay the
// same, but use only pixels inside. If the input has fewer pixels than taps, first[i] is 0 and the
// weights after the input's end are 0.
void fold_edges(int64_t input, CvTaps& taps);

// For kArea if it shrinks: each output is the mean of the pixels that its area covers.
struct CvAreaTaps {
  int64_t taps = 0;  // of the output with the most; the weights of others are padded with zeros
  std::vector<int32_t> first;
  std::vector<int32_t> count;
  std::vector<float> weights;  // `taps` for each output
};
void cv_area_taps(const CvDirection& direction, CvAreaTaps& result);

}  // namespace fuelrail
