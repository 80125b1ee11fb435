#include "fuelrail/sampler/shuffle.h"

#include <fmt/format.h>

#include "fuelrail/base/error.h"

namespace fuelrail {

std::string to_string(const Shuffle& shuffle) {
  switch (shuffle.kind) {
    case Shuffle::Kind::kNone:
      return "none";
    case Shuffle::Kind::kFull:
      return "full";
    case Shuffle::Kind::kWindow:
      break;
  }
  return fmt::format("window({}, {})", shuffle.block, shuffle.blocks);
}

void check(const Shuffle& shuffle) {
  if (shuffle.kind != Shuffle::Kind::kWindow) return;
  if (shuffle.block > 0 && shuffle.blocks > 0) return;
  throw InvalidArgumentError(
      "the shuffle window is empty",
      {.expected = "at least 1 for `block` and for `blocks`",
       .found = fmt::format("block={}, blocks={}", shuffle.block, shuffle.blocks)});
}

}  // namespace fuelrail
