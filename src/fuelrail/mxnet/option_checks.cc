#include "fuelrail/mxnet/option_checks.h"

#include <fmt/format.h>

#include <string>

#include "fuelrail/base/error.h"

namespace fuelrail::mxnet {
namespace {

[[noreturn]] void refuse_value(const char* parameter, const char* expected, std::string found) {
  throw InvalidArgumentError(fmt::format("`{}` is out of range", parameter),
                             {.expected = expected, .found = std::move(found)});
}

}  // namespace

void require_value(bool holds, const char* parameter, const char* expected, int64_t found) {
  if (!holds) refuse_value(parameter, expected, fmt::format("{}", found));
}

void require_value(bool holds, const char* parameter, const char* expected, float found) {
  if (!holds) refuse_value(parameter, expected, fmt::format("{}", found));
}

void require_factor(const char* parameter, float value) {
  require_value(value >= 0 && value <= kMostFactor, parameter, "0 to a million", value);
}

void require_interpolation(int64_t inter_method) {
  const bool known = (inter_method >= 0 && inter_method <= 4) || inter_method == 9;
  require_value(known || inter_method == 10, "inter_method", "0 to 4, 9 or 10", inter_method);
}

}  // namespace fuelrail::mxnet
