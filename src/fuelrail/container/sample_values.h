// Checks of the values in a sample record, shared by its reader and its writer.
#pragma once

#include <cstdint>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/container/sample.h"

namespace fuelrail {

// Checks a value, or an item of a list, whose length fits its field: text is UTF-8, a bool is 0 or
// 1, boxes are finite and not inverted, float32 holds their corners, an image is not empty.
// BadValueError: InvalidArgumentError or CorruptError, thrown with the field and the place in the
// value.
template <typename BadValueError>
void check_value(const FieldSpec& field, Bytes bytes);

// The number of bytes of a tensor with this shape. Errors: BadValueError for a shape that the field
// cannot have, or of more than kMaxValueBytes.
template <typename BadValueError>
uint64_t bytes_of_shape(const FieldSpec& field, const std::vector<int64_t>& shape);

// Checks that every class number of a label field is below `classes`. Errors: BadValueError, with
// the row.
template <typename BadValueError>
void check_labels(const FieldSpec& field, Bytes bytes, uint64_t classes);

// Checks that the field has as many rows as the first field of its group of rows. Errors:
// BadValueError.
template <typename BadValueError>
void check_row_count(const FieldSpec& field, const FieldValue& value, const FieldSpec& first,
                     const FieldValue& first_value);

}  // namespace fuelrail
