// Schemas as texts, for messages.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "fuelrail/container/sample.h"

namespace fuelrail {

// What a field's role, flags and detail say besides its kind, of the image and the rows that it
// refers to: {"of image", "rows boxes", "xywh", "relative"}, {"of image", "fill 255"}, or nothing.
std::vector<std::string> properties_of(const Schema& schema, const FieldSpec& field);

// "a.boxes: boxes: tensor float32 [-1, 4], of a.image, xyxy", "label: tensor int64 [], class
// numbers".
std::string describe(const Schema& schema, const FieldSpec& field);

// The fields in which two schemas differ, as texts for an error; empty if they are equal. Longer
// lists are cut.
struct SchemaDifference {
  std::string expected;
  std::string found;
};
std::optional<SchemaDifference> difference(const Schema& expected, const Schema& found);

}  // namespace fuelrail
