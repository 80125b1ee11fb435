// Samples and schemas as JSON and as tables, for `cat` and `info`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fuelrail/base/json.h"
#include "fuelrail/container/container.h"

namespace fuelrail::cli {

// A sample as nested objects and arrays, as the names of its fields say: numbers as arrays, texts
// as they are, images as {format, height, width, bytes}, bytes as {bytes: their number}, tensors of
// more than 4,194,304 numbers as {dtype, shape, bytes}. Numbers that are not finite are null.
// `field`: the only field of the result. Default: all.
Json sample_json(const Schema& schema, const Sample& sample, std::optional<size_t> field = {});

// A field: {name, kind, dtype, shape, role, of, rows, properties, classes}.
Json field_json(const Container& container, const FieldSpec& field);

// A table of the fields, with its header: one line for each field, in columns.
std::vector<std::string> field_table(const Container& container);

}  // namespace fuelrail::cli
