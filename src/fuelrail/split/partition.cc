#include "fuelrail/split/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "fuelrail/base/error.h"

namespace fuelrail::split {
namespace {

// a / b, rounded up. Computed without a sum, which could overflow.
uint64_t divided_up(uint64_t a, uint64_t b) { return a / b + (a % b == 0 ? 0 : 1); }

// The smaller of k * step and `most`.
uint64_t begin_of(uint64_t k, uint64_t step, uint64_t most) {
  return step != 0 && k > most / step ? most : k * step;
}

PartRange nth_of(uint64_t k, uint64_t step, uint64_t most) {
  const uint64_t begin = std::min(begin_of(k, step, most), most);
  return {begin, begin + std::min(step, most - begin)};
}

}  // namespace

void check_part(uint64_t part, uint64_t nsplit) {
  if (part < nsplit) return;
  throw InvalidArgumentError(
      "`part` is out of range",
      {.expected = nsplit == 0 ? "at least one part" : fmt::format("part 0 to {}", nsplit - 1),
       .found = fmt::format("part {} of {}", part, nsplit)});
}

PartRange ByteParts::raw(uint64_t part, uint64_t nsplit) const {
  check_part(part, nsplit);
  const uint64_t step = divided_up(divided_up(total_bytes, nsplit), align) * align;
  return nth_of(part, step, total_bytes);
}

PartRange CountParts::part(uint64_t part, uint64_t nsplit) const {
  check_part(part, nsplit);
  return nth_of(part, divided_up(records, nsplit), records);
}

PartRange sub_parts(uint64_t part, uint64_t nsplit, uint64_t shuffle_parts) {
  check_part(part, nsplit);
  const uint64_t most = std::numeric_limits<uint64_t>::max();
  if (shuffle_parts == 0 || nsplit > most / shuffle_parts) {
    throw InvalidArgumentError("`shuffle_parts` is out of range",
                               {.expected = fmt::format("1 to {}", most / nsplit),
                                .found = fmt::format("{}", shuffle_parts)});
  }
  return {part * shuffle_parts, (part + 1) * shuffle_parts};
}

}  // namespace fuelrail::split
