// Reads the elements of arrays in a JSON file of any length, one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuelrail/base/listener.h"
#include "fuelrail/storage/source.h"

namespace fuelrail::pack {

// Receives element i of the array `section`, and may take its content.
using TakeElement =
    std::function<void(const std::string& section, uint64_t i, nlohmann::json& element)>;

// Passes the elements of the root's arrays `sections` to `take`, in the file's order. Of an element
// only these `members` are kept; everything else is skipped. Returns: the sections that the file
// has. Memory: some MiB, and the members of one element. Errors: CorruptError for a file that is
// not JSON (with the offset) or not an object, for an array that occurs twice or is not an array of
// objects, and for an element that has one of the members twice or whose members have more than
// 4,194,304 values, arrays and objects, or 64 levels; StateError when `keep_going` returns false;
// those of `source` and `take`.
std::vector<std::string> read_elements(const Source& source,
                                       std::span<const std::string_view> sections,
                                       std::span<const std::string_view> members,
                                       const TakeElement& take, const KeepGoing& keep_going);

}  // namespace fuelrail::pack
