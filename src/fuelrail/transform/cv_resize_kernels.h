// The inner loops of OpenCV's filters, and their tables. Private to the module. Integers, or floats
// added in OpenCV's order: the same bits on every target.
//
// Between the two passes a pixel has kCvLanes values, of which the fourth means nothing in RGB; one
// value in grey.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fuelrail/transform/cv_taps.h"

namespace fuelrail {

inline constexpr int64_t kCvLanes = 4;
inline constexpr int64_t kCvGroup = 16;  // outputs are made in groups
inline constexpr int64_t cv_lanes(int64_t channels) { return channels == 1 ? 1 : kCvLanes; }
inline int64_t cv_groups(int64_t pixels) { return (pixels + kCvGroup - 1) / kCvGroup; }
// Of a row between the passes, and of a row of bytes behind the second one: whole vectors fit.
inline int64_t cv_row_values(int64_t pixels, int64_t channels) {
  return cv_groups(pixels) * kCvGroup * cv_lanes(channels) + 64;
}

// The horizontal pass of weights of 11 bits. For each group of outputs and each pair of taps a
// block an output: (weight, next weight), for colours 4 times.
struct CvColumns {
  int64_t block() const { return channels == 1 ? 2 : 2 * kCvLanes; }  // int16
  int64_t pair_of_group() const { return kCvGroup * block(); }
  int64_t channels = 3;
  int64_t width = 0;  // outputs
  int64_t taps = 0;
  std::vector<int32_t> offsets;  // byte of each output's first tap
  std::vector<int16_t> weights;
  int64_t bytes_read = 0;  // from the start of a row, at most
};
// For rows that begin at input pixel `first`. Requires: folded taps.
void build(const CvTaps& taps, int64_t first, int64_t channels, CvColumns& columns);

// Makes a row of columns.width pixels. Requires: columns.bytes_read readable bytes at `row`;
// cv_row_values writable values. Of the sums: a sixteenth, rounded down; float32; themselves.
void cv_linear_row(const CvColumns& columns, const uint8_t* row, int16_t* to);
void cv_cubic_row(const CvColumns& columns, const uint8_t* row, float* to);
void cv_lanczos4_row(const CvColumns& columns, const uint8_t* row, int32_t* to);

// The vertical pass: `values` bytes from as many values of each row. Requires: cv_row_values of
// `to` and the rows may be touched.
void cv_blend_linear(std::span<const int16_t* const, 2> rows, const int16_t* weights,
                     int64_t values, uint8_t* to);
void cv_blend_cubic(std::span<const float* const, 4> rows, const int16_t* weights, int64_t values,
                    uint8_t* to);
void cv_blend_lanczos4(std::span<const int32_t* const, 8> rows, const int16_t* weights,
                       int64_t values, uint8_t* to);

// RGBX to RGB: exactly 3 * pixels bytes are written. Requires: `from` is a row of cv_row_values.
void cv_drop_fourth(const uint8_t* from, int64_t pixels, uint8_t* to);

}  // namespace fuelrail
