// Environment variables that limit the ways of decoding, for tests and benchmarks.
#pragma once

#include <initializer_list>
#include <string_view>

namespace fuelrail {

// Returns: the variable's value, or empty if it is not set. Lifetime: until the environment
// changes. Errors: InvalidArgumentError if the value is neither empty nor one of `ways`.
std::string_view way_from_environment(const char* variable,
                                      std::initializer_list<std::string_view> ways);

}  // namespace fuelrail
