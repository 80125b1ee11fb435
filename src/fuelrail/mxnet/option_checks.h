// What the checks of MXNet's parameters share. Private to the module.
#pragma once

#include <cstdint>

namespace fuelrail::mxnet {

// Errors: InvalidArgumentError, naming the parameter, unless `holds`.
void require_value(bool holds, const char* parameter, const char* expected, int64_t found);
void require_value(bool holds, const char* parameter, const char* expected, float found);

void require_finite(const char* parameter, float value);

// Finite and not below 0.
void require_magnitude(const char* parameter, float value);

// From 0 to a million: whatever is computed with it in float32 stays finite.
void require_factor(const char* parameter, float value);

// From a millionth to a million, for what is divided by, too.
void require_ratio(const char* parameter, float value);

void require_interpolation(int64_t inter_method);

}  // namespace fuelrail::mxnet
