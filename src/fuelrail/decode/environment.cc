#include "fuelrail/decode/environment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "fuelrail/base/error.h"

namespace fuelrail {

std::string_view way_from_environment(const char* variable,
                                      std::initializer_list<std::string_view> ways) {
  const char* const given = std::getenv(variable);
  const std::string_view way = given == nullptr ? "" : given;
  if (way.empty() || std::ranges::find(ways, way) != ways.end()) return way;
  throw InvalidArgumentError(fmt::format("the environment variable {} is invalid", variable),
                             {.expected = fmt::format("{} or empty", fmt::join(ways, ", ")),
                              .found = std::string(way),
                              .remedy = "Unset it: it is for tests and benchmarks"});
}

}  // namespace fuelrail
