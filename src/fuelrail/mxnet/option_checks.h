// What the checks of MXNet's parameters, and the rows of their tables, share. Private to the
// module.
#pragma once

#include <cstdint>
#include <string>

#include "fuelrail/base/option.h"

namespace fuelrail::mxnet {

// Errors: InvalidArgumentError, naming the parameter, unless `holds`.
void require_value(bool holds, const std::string& parameter, const char* expected,
                   const OptionValue& found);

constexpr float kMostFactor = 1e6f;   // whatever is computed with it in float32 stays finite
constexpr float kLeastRatio = 1e-6f;  // of what is divided by, too

// Of a list, each of whose values obeys a number's rule.
OptionRule each(OptionRule number);

// Of whole numbers that `holds` allows, which `bounds` says.
OptionRule whole_number(const char* name, const char* bounds, const char* meaning,
                        bool (*holds)(int64_t));

OptionRule interpolation_rule();  // of inter_method
OptionRule shorter_side_rule();   // of resize

}  // namespace fuelrail::mxnet
