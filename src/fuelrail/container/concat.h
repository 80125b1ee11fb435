// Several containers as one: records of the first, then of the second, and so on.
#pragma once

#include <memory>
#include <vector>

#include "fuelrail/container/container.h"

namespace fuelrail {

// Errors: InvalidArgumentError when `parts` is empty, when schemas differ, or when two parts have
// different class names.
std::shared_ptr<const Container> concat(std::vector<std::shared_ptr<const Container>> parts);

}  // namespace fuelrail
