// Helpers that check MXNet's parameters and build the rows of their tables. Private to the module.
#pragma once

#include <cstdint>
#include <string>

#include "fuelrail/base/option.h"

namespace fuelrail::mxnet {

// Errors: InvalidArgumentError that names `parameter`, if `holds` is false.
void require_value(bool holds, const std::string& parameter, const char* expected,
                   const OptionValue& found);

constexpr float kMostFactor = 1e6f;   // results in float32 stay finite with factors up to this
constexpr float kLeastRatio = 1e-6f;  // and with divisors down to this

// The rule for a list in which each value satisfies the rule `number`.
OptionRule each(OptionRule number);

// The rule for a whole number for which `holds` returns true. `bounds` describes this condition.
OptionRule whole_number(const char* name, const char* bounds, const char* meaning,
                        bool (*holds)(int64_t));

OptionRule interpolation_rule();  // for inter_method
OptionRule shorter_side_rule();   // for resize

}  // namespace fuelrail::mxnet
