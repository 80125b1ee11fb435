// Several containers as one: records of the first, then of the second, and so on.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "fuelrail/container/container.h"

namespace fuelrail {

// A record is found in O(log parts). Ids and places are the parts' own. Class names are those of
// the first part that has any. One part is returned as it is. Errors: InvalidArgumentError when
// `parts` is empty, when schemas differ, or when two parts have different class names.
std::shared_ptr<const Container> concat(std::vector<std::shared_ptr<const Container>> parts);

// What `concat` joined; empty for any other container. Lifetime: the container's.
std::span<const std::shared_ptr<const Container>> parts_of(const Container& container);

}  // namespace fuelrail
