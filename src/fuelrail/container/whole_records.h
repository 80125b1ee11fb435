// A container whose records are always read whole.
#pragma once

#include <memory>

#include "fuelrail/container/container.h"

namespace fuelrail {

// The same records, but `extent` is the container's `record_extent`, so that `parse` gets all bytes
// of a record, even if its sample needs only some of them.
std::shared_ptr<const Container> whole_records(std::shared_ptr<const Container> container);

}  // namespace fuelrail
