// Reads a large JSON file piece by piece: an object of arrays of objects, as COCO's annotation
// files are.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "fuelrail/base/listener.h"
#include "fuelrail/storage/source.h"

namespace fuelrail::pack {

// Receives element i of the array `section`, and may take its content.
using TakeElement =
    std::function<void(const std::string& section, uint64_t i, nlohmann::json& element)>;

// Passes the elements of the arrays with these names to `take`, in the file's order; everything
// else is skipped. Returns: the names that the file has. Memory: some MiB, and one element. Errors:
// CorruptError for a file that is not JSON (with the offset) or not an object, for an array that
// occurs twice or is not an array of objects, and for an element of more than 8,388,608 values or
// 64 levels; StateError when `keep_going` returns false; those of `source` and `take`.
std::vector<std::string> read_elements(const Source& source,
                                       const std::vector<std::string>& sections,
                                       const TakeElement& take, const KeepGoing& keep_going = {});

// "a string", "[1, 2, …": a short text of a value, for `found`.
std::string short_text(const nlohmann::json& value);

}  // namespace fuelrail::pack
