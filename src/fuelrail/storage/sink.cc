#include "fuelrail/storage/sink.h"

#include <fmt/format.h>

#include "fuelrail/base/error.h"

namespace fuelrail {

void Sink::check_appended(uint64_t offset, uint64_t length) const {
  if (offset <= position() && length <= position() - offset) return;
  throw OutOfRangeError("the bytes are past the end of what was written",
                        {.path = uri(),
                         .offset = offset,
                         .expected = fmt::format("at most {} bytes in all", position()),
                         .found = fmt::format("{} bytes", length)});
}

}  // namespace fuelrail
