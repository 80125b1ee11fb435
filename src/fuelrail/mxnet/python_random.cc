#include "fuelrail/mxnet/python_random.h"

#include <bit>
#include <span>

namespace fuelrail::mxnet {
namespace {

MersenneTwister seeded(uint64_t seed) {
  const uint32_t key[] = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  return MersenneTwister(std::span(key, key[1] != 0 ? 2 : 1));
}

}  // namespace

PythonRandom::PythonRandom(uint64_t seed) : generator_(seeded(seed)) {}

// The first word has the lowest bits; of the last word, only the upper bits are used.
uint64_t PythonRandom::bits(int bits) {
  const uint64_t low = bits < 32 ? generator_.next() >> (32 - bits) : generator_.next();
  if (bits <= 32) return low;
  return low | uint64_t{generator_.next() >> (64 - bits)} << 32;
}

uint64_t PythonRandom::below(uint64_t n) {
  const auto width = static_cast<int>(std::bit_width(n));
  uint64_t drawn = bits(width);
  while (drawn >= n) drawn = bits(width);
  return drawn;
}

}  // namespace fuelrail::mxnet
