#include "fuelrail/split/dmlc_shuffle.h"

#include <fmt/format.h>

#include <limits>
#include <numeric>

#include "fuelrail/base/error.h"

namespace fuelrail::split {
namespace {

constexpr uint32_t kMostDrawn = std::numeric_limits<uint32_t>::max();

}  // namespace

DmlcShuffle DmlcShuffle::of_sub_parts(uint64_t part, uint64_t nsplit, uint64_t shuffle_parts,
                                      int64_t seed) {
  const uint64_t sum = 666 + part + nsplit + shuffle_parts + static_cast<uint64_t>(seed);
  return DmlcShuffle(static_cast<int64_t>(sum));
}

std::vector<uint64_t> DmlcShuffle::permutation(uint64_t count) {
  check_count(count);
  std::vector<uint64_t> items(static_cast<size_t>(count));
  std::iota(items.begin(), items.end(), uint64_t{0});
  shuffle(items);
  return items;
}

uint32_t DmlcShuffle::below(uint32_t bound) {
  const uint32_t divisor = kMostDrawn / bound;
  const uint32_t past = divisor * bound;
  uint32_t drawn = 0;
  do {
    drawn = static_cast<uint32_t>(generator_());
  } while (drawn >= past);
  return drawn / divisor;
}

void DmlcShuffle::check_count(uint64_t count) {
  if (count <= kMostDrawn) return;
  throw UnsupportedError("the part has too many records or sub-parts for the shuffle of dmlc-core",
                         {.expected = fmt::format("at most {}", kMostDrawn),
                          .found = fmt::format("{}", count),
                          .remedy = "Use more parts, or fewer sub-parts"});
}

}  // namespace fuelrail::split
