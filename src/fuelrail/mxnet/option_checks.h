// What the checks of MXNet's parameters share. Private to the module.
#pragma once

#include <cstdint>

namespace fuelrail::mxnet {

// Errors: InvalidArgumentError, naming the parameter, unless `holds`.
void require_value(bool holds, const char* parameter, const char* expected, int64_t found);
void require_value(bool holds, const char* parameter, const char* expected, float found);

constexpr float kMostFactor = 1e6f;   // whatever is computed with it in float32 stays finite
constexpr float kLeastRatio = 1e-6f;  // of what is divided by, too

// From 0 to kMostFactor.
void require_factor(const char* parameter, float value);

void require_interpolation(int64_t inter_method);

}  // namespace fuelrail::mxnet
