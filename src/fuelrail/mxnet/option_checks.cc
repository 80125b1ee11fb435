#include "fuelrail/mxnet/option_checks.h"

#include <algorithm>

#include "fuelrail/mxnet/mx_shape.h"

namespace fuelrail::mxnet {

void require_value(bool holds, const std::string& parameter, const char* expected,
                   const OptionValue& found) {
  if (!holds) OptionRule{.name = parameter, .kind = {}, .bounds = expected}.refuse(shown(found));
}

OptionRule each(OptionRule number) {
  number.kind += 's';
  number.bounds += " each";
  number.allows = [of_one = std::move(number.allows)](const OptionValue& value) {
    if (const auto* const whole = std::get_if<std::vector<int64_t>>(&value)) {
      return std::ranges::all_of(*whole, of_one);
    }
    const auto* const decimals = std::get_if<std::vector<double>>(&value);
    return decimals != nullptr && std::ranges::all_of(*decimals, of_one);
  };
  return number;
}

OptionRule whole_number(const char* name, const char* bounds, const char* meaning,
                        bool (*holds)(int64_t)) {
  const auto allows = [holds](const OptionValue& value) {
    const auto* const number = std::get_if<int64_t>(&value);
    return number != nullptr && holds(*number);
  };
  return {.name = name, .kind = "int", .bounds = bounds, .meaning = meaning, .allows = allows};
}

OptionRule interpolation_rule() {
  return option::numbers_rule(
      "inter_method", {0, 1, 2, 3, 4, 9, 10},
      "Interpolation method of all steps: 0 nearest, 1 linear, 2 cubic, 3 area, 4 Lanczos, 9 by "
      "size (cubic if both sides grow, area if both shrink, else linear), 10 one of 0 to 4 at "
      "random.");
}

OptionRule shorter_side_rule() {
  return whole_number(
      "resize", "-1 (off), or 1 to 32766 pixels",
      "Resizes the shorter side to this many pixels and keeps the aspect ratio; -1: off.",
      [](int64_t side) { return side >= -1 && side != 0 && side <= kLongestSide; });
}

}  // namespace fuelrail::mxnet
