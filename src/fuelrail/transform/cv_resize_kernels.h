// The inner loops of OpenCV's filters and area means. Private to the module. Rows between the
// passes have the layout of cv_columns.h. The results are bit-identical on every target, because
// the kernels use integers, or add floats in OpenCV's order.
#pragma once

#include <cstdint>
#include <span>

#include "fuelrail/transform/cv_columns.h"

namespace fuelrail {

// Write a row of columns.width pixels. Requires: columns.bytes_read readable bytes at `row`;
// cv_row_values writable values at `to`. cv_linear_row stores the sums divided by 16 and rounded
// down, cv_cubic_row as float32, and cv_lanczos4_row unchanged.
void cv_linear_row(const CvColumns& columns, const uint8_t* row, int16_t* to);
void cv_cubic_row(const CvColumns& columns, const uint8_t* row, float* to);
void cv_lanczos4_row(const CvColumns& columns, const uint8_t* row, int32_t* to);

// The vertical pass: write `values` bytes, computed from the same number of values in each row.
// Requires: cv_row_values values are writable at `to` and readable at each row.
void cv_blend_linear(std::span<const int16_t* const, 2> rows, const int16_t* weights,
                     int64_t values, uint8_t* to);
void cv_blend_cubic(std::span<const float* const, 4> rows, const int16_t* weights, int64_t values,
                    uint8_t* to);
void cv_blend_lanczos4(std::span<const int32_t* const, 8> rows, const int16_t* weights,
                       int64_t values, uint8_t* to);

// Converts RGBX to RGB and writes exactly 3 * pixels bytes. Requires: cv_row_values bytes are
// readable at `from`.
void cv_drop_fourth(const uint8_t* from, int64_t pixels, uint8_t* to);

// Area means: writes a row of columns.width pixels, with sums in the order of the taps. Requires:
// as for cv_linear_row.
void cv_area_row(const CvAreaColumns& columns, const uint8_t* row, float* to);

// sum = weight * row, and sum += weight * row. Here and in the functions below, cv_row_values
// values of each array are accessed.
void cv_area_begin(const float* row, float weight, int64_t values, float* sum);
void cv_area_add(const float* row, float weight, int64_t values, float* sum);

// Rounds to the nearest level, ties to even.
void cv_area_round(const float* sum, int64_t values, uint8_t* to);

// Writes `pixels` means of 2 x 2 pixels, with halves rounded up, in the layout of a row between the
// passes. Requires: 2 * pixels * channels + 64 readable bytes at each row.
void cv_halve_rows(const uint8_t* upper, const uint8_t* lower, int64_t pixels, int64_t channels,
                   uint8_t* to);

// sums[i] += row[i].
void cv_add_row(const uint8_t* row, int64_t bytes, int32_t* sums);

}  // namespace fuelrail
