// Several containers as one: the records of the first, then those of the second, and so on.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "fuelrail/container/container.h"

namespace fuelrail {

// Finds a record in O(log parts). Ids and places are those of the parts. Class names are those of
// the first part that has any. A single part is returned unchanged. Errors: InvalidArgumentError
// when `parts` is empty, when schemas differ, or when two parts have different class names.
std::shared_ptr<const Container> concat(std::vector<std::shared_ptr<const Container>> parts);

// The containers that `concat` joined; empty for any other container. Lifetime: that of the
// container.
std::span<const std::shared_ptr<const Container>> parts_of(const Container& container);

}  // namespace fuelrail
