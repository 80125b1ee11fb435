// Selects fields by their names. A name is a path, such as "cameras.0.image"; a group is the first
// parts of a path ("cameras", "cameras.0"); in a pattern, `*` stands for any characters, dots too
// ("cameras.*.image").
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuelrail/container/sample.h"
#include "fuelrail/loader/options.h"

namespace fuelrail {

bool matches(std::string_view pattern, std::string_view name);

// The names of the columns with the height and width of an image, "image.size", and with the map
// from its coordinates to those after the transforms, "image.affine".
std::string size_column(std::string_view image);
std::string affine_column(std::string_view image);

// The name of one of the loader's own columns: "id" for "id" and for "loader:id", its name beside
// a field or group "id". No field has a colon in its name.
std::string_view own_column(std::string_view column);

// The names of the columns that `fields` selects, in the order of `fields`. An item is a field; an
// image's size_column or affine_column; a group, which selects its fields; a pattern, which selects
// the fields that match and, if it ends with ".size" or ".affine", these columns; or, if it is none
// of these, one of the loader's own columns (`own`). The fields of a group or pattern are in the
// schema's order. Errors: InvalidArgumentError for an empty `fields`, for an item that selects
// nothing (the nearest name is suggested), and for a column that is selected twice.
std::vector<std::string> select_columns(const Schema& schema, std::span<const std::string> fields,
                                        std::span<const std::string> own);

// Checks the patterns of the option `option`. Errors: InvalidArgumentError for a pattern that
// matches no field, for one that matches no field which `fits` (`kind` names the fields that do:
// "images"), and for a field that two patterns match.
void check_patterns(const std::string& option, std::span<const std::string> patterns,
                    const Schema& schema, const std::function<bool(const FieldSpec&)>& fits,
                    const std::string& kind);

// The value of the pattern that matches the field `name`; null if none does.
template <typename Value>
const Value* value_of(const ByPattern<Value>& patterns, std::string_view name) {
  for (const auto& [pattern, value] : patterns) {
    if (matches(pattern, name)) return &value;
  }
  return nullptr;
}

template <typename Value>
std::vector<std::string> patterns_of(const ByPattern<Value>& patterns) {
  std::vector<std::string> names;
  for (const auto& [pattern, value] : patterns) names.push_back(pattern);
  return names;
}

}  // namespace fuelrail
