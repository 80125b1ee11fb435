#include "fuelrail/engine/error_policy.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuelrail/base/error.h"

namespace fuelrail {
namespace {

constexpr double kDefaultFraction = 0.01;
constexpr uint64_t kDefaultLeast = 10;

}  // namespace

uint64_t ErrorPolicy::most_bad(uint64_t records) const {
  if (const auto* count = std::get_if<uint64_t>(&max_bad)) return *count;
  const auto all = static_cast<double>(records);
  if (const auto* fraction = std::get_if<double>(&max_bad)) {
    return static_cast<uint64_t>(*fraction * all);
  }
  return std::max(kDefaultLeast, static_cast<uint64_t>(kDefaultFraction * all));
}

void check(const ErrorPolicy& policy) {
  if (policy.max_bad.index() != 0 && policy.on_error != OnError::kSkip) {
    throw InvalidArgumentError("`max_bad` goes with on_error=\"skip\"",
                               {.remedy = "Give both, or leave it out"});
  }
  const auto* fraction = std::get_if<double>(&policy.max_bad);
  if (fraction != nullptr && !(*fraction >= 0 && *fraction <= 1)) {
    throw InvalidArgumentError("`max_bad` is out of range",
                               {.expected = "a fraction from 0 to 1, or a whole number",
                                .found = fmt::format("{}", *fraction)});
  }
}

}  // namespace fuelrail
