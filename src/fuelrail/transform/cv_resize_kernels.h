// The inner loops of OpenCV's filters. Private to the module. Rows between the passes are those of
// cv_columns.h. Integers, or floats added in OpenCV's order: the same bits on every target.
#pragma once

#include <cstdint>
#include <span>

#include "fuelrail/transform/cv_columns.h"

namespace fuelrail {

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
