// Environment variables that limit the ways of decoding, for tests and benchmarks.
#pragma once

#include <initializer_list>
#include <string_view>

namespace fuelrail {

// Returns: the variable's value, or empty if it is not set. Errors: InvalidArgumentError if it is
// none of `ways`.
std::string_view way_from_environment(const char* variable,
                                      std::initializer_list<std::string_view> ways);

}  // namespace fuelrail
