#include "fuelrail/base/option.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "fuelrail/base/error.h"

namespace fuelrail {

std::string shown(const OptionValue& value) {
  return std::visit(
      [](const auto& given) -> std::string {
        using Value = std::remove_cvref_t<decltype(given)>;
        if constexpr (std::is_same_v<Value, std::monostate>) {
          return "None";
        } else if constexpr (std::is_same_v<Value, bool>) {
          return given ? "True" : "False";
        } else if constexpr (std::is_same_v<Value, std::string>) {
          return fmt::format("'{}'", given);
        } else if constexpr (std::is_same_v<Value, double>) {
          if (std::abs(given) <= std::numeric_limits<float>::max()) {
            const auto near =
                static_cast<float>(given);  // the short form, if the value is exactly a float
            if (near == given) return fmt::format("{}", near);
          }
          return fmt::format("{}", given);
        } else {
          return fmt::format("{}", given);
        }
      },
      value);
}

namespace {

// "1 to 8"; a bound that is the type's own limit is omitted: "at least 1".
std::string bounds_of(const OptionValue& least, const OptionValue& most) {
  constexpr double kMostFloat = std::numeric_limits<float>::max();
  const auto* const lowest = std::get_if<double>(&least);
  const auto* const highest = std::get_if<double>(&most);
  const bool no_least = lowest ? *lowest <= -kMostFloat : least == OptionValue{INT64_MIN};
  const bool no_most = highest ? *highest >= kMostFloat
                               : most == OptionValue{INT64_MAX} || most == OptionValue{UINT64_MAX};
  if (no_least && no_most) return lowest ? "a finite number" : "a 64-bit integer";
  if (no_least) return fmt::format("at most {}", shown(most));
  if (no_most) return fmt::format("at least {}", shown(least));
  return fmt::format("{} to {}", shown(least), shown(most));
}

// Whether `a` <= `b`. Requires: both are numbers.
bool is_at_most(const OptionValue& a, const OptionValue& b) {
  return std::visit(
      [](const auto& x, const auto& y) {
        using X = std::remove_cvref_t<decltype(x)>;
        using Y = std::remove_cvref_t<decltype(y)>;
        constexpr bool kNumbers = std::is_arithmetic_v<X> && std::is_arithmetic_v<Y> &&
                                  !std::is_same_v<X, bool> && !std::is_same_v<Y, bool>;
        if constexpr (kNumbers && std::is_integral_v<X> && std::is_integral_v<Y>) {
          return std::cmp_less_equal(x, y);
        } else if constexpr (kNumbers) {
          return static_cast<double>(x) <= static_cast<double>(y);
        } else {
          return false;
        }
      },
      a, b);
}

}  // namespace

uint64_t Allowance::of(uint64_t all) const {
  // Both sides of the comparison are the doubles nearest to their decimal numbers, so equal numbers
  // compare equal. The product is inexact, so it only begins the search.
  const auto fits = [&](uint64_t share) {
    return static_cast<double>(share) / static_cast<double>(all) <= fraction;
  };
  auto share = static_cast<uint64_t>(fraction * static_cast<double>(all));
  while (share > 0 && !fits(share)) --share;
  while (share < all && fits(share + 1)) ++share;
  return std::max(count, share);
}

void OptionRule::check(const OptionValue& value) const {
  if (allows && !allows(value)) refuse(shown(value), std::holds_alternative<uint64_t>(value));
}

void OptionRule::refuse(const std::string& found, bool too_long) const {
  if (!choices.empty()) {
    const bool quoted = found.size() >= 2 && found.front() == '\'';
    throw InvalidArgumentError(
        fmt::format("`{}` is invalid", name),
        {.found = found,
         .remedy = suggest(quoted ? found.substr(1, found.size() - 2) : found, choices)});
  }
  throw InvalidArgumentError(
      fmt::format("`{}` is out of range", name),
      {.expected = fmt::format("{}{}{}", bounds.empty() ? kind : bounds,
                               too_long && !limit.empty() ? ", " : "", too_long ? limit : ""),
       .found = found});
}

namespace option {

OptionRule number_rule(std::string name, std::string kind, OptionValue least, OptionValue most,
                       std::string meaning) {
  const bool may_be_none = kind.ends_with(" or None");
  std::string bounds = bounds_of(least, most);
  std::string limit;
  if (bounds.starts_with("at least ")) limit = "at most " + shown(most);
  if (bounds.starts_with("at most ")) limit = "at least " + shown(least);
  return {.name = std::move(name),
          .kind = std::move(kind),
          .bounds = std::move(bounds),
          .limit = std::move(limit),
          .meaning = std::move(meaning),
          .allows = [least = std::move(least), most = std::move(most),
                     may_be_none](const OptionValue& value) {
            if (std::holds_alternative<std::monostate>(value)) return may_be_none;
            return is_at_most(least, value) && is_at_most(value, most);
          }};
}

OptionRule numbers_rule(std::string name, std::vector<int64_t> numbers, std::string meaning) {
  return {.name = std::move(name),
          .kind = "int",
          .bounds = fmt::format("{}", fmt::join(numbers, ", ")),
          .meaning = std::move(meaning),
          .allows = [numbers = std::move(numbers)](const OptionValue& value) {
            const auto* const given = std::get_if<int64_t>(&value);
            return given && std::find(numbers.begin(), numbers.end(), *given) != numbers.end();
          }};
}

OptionRule allowance_rule(std::string name, std::string kind, std::string meaning) {
  return {.name = std::move(name),
          .kind = std::move(kind),
          .bounds = "a fraction from 0 to 1, or a whole number",
          .limit = "at most " + shown(UINT64_MAX),
          .meaning = std::move(meaning),
          .allows = [](const OptionValue& value) {
            if (const auto* of = std::get_if<double>(&value)) return *of >= 0 && *of <= 1;
            const auto* const count = std::get_if<int64_t>(&value);
            return count == nullptr || *count >= 0;
          }};
}

OptionRule choice_rule(std::string name, const std::vector<std::string>& names,
                       std::string meaning) {
  return {.name = std::move(name),
          .kind = fmt::format("one of {}", fmt::join(names, " ")),
          .bounds = {},
          .meaning = std::move(meaning),
          .choices = names,
          .allows = [names](const OptionValue& value) {
            const auto* const given = std::get_if<std::string>(&value);
            return given != nullptr && std::find(names.begin(), names.end(), *given) != names.end();
          }};
}

}  // namespace option
}  // namespace fuelrail
