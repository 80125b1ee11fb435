#include "fuelrail/storage/sink.h"

#include <fmt/format.h>

#include "fuelrail/base/error.h"

namespace fuelrail {

void Sink::check_appended(uint64_t offset, uint64_t length) const {
  if (offset <= position() && length <= position() - offset) return;
  throw OutOfRangeError("the range ends after the last byte written",
                        {.path = uri(),
                         .offset = offset,
                         .expected = fmt::format("a range within the first {} bytes", position()),
                         .found = fmt::format("{} bytes from offset {}", length, offset)});
}

}  // namespace fuelrail
