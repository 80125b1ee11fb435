// Joins containers into one, with the records of the first, then those of the second, and so on.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "fuelrail/container/container.h"

namespace fuelrail {

// Returns one container with the records of all parts, in order. Ids and places are those of the
// parts. The class names are those of the first part that has any. Finding a record takes O(log
// parts). A single part is returned unchanged. Errors: InvalidArgumentError if `parts` is empty, if
// schemas differ (the error shows in which fields), or if two parts have different class names.
std::shared_ptr<const Container> concat(std::vector<std::shared_ptr<const Container>> parts);

// The parts of a container that `concat` built; empty for any other container. Lifetime: valid
// while the container exists.
std::span<const std::shared_ptr<const Container>> parts_of(const Container& container);

}  // namespace fuelrail
