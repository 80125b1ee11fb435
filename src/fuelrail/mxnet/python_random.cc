#include "fuelrail/mxnet/python_random.h"

#include <algorithm>
#include <bit>

namespace fuelrail::mxnet {

PythonRandom::PythonRandom(uint64_t seed) {
  std::vector<uint32_t> key{static_cast<uint32_t>(seed)};
  if (seed >> 32 != 0) key.push_back(static_cast<uint32_t>(seed >> 32));
  seed_by_array(key);
}

void PythonRandom::seed_by_number(uint32_t seed) {
  state_[0] = seed;
  for (uint32_t i = 1; i < kWords; ++i) {
    state_[i] = 1812433253U * (state_[i - 1] ^ state_[i - 1] >> 30) + i;
  }
  used_ = kWords;
}

void PythonRandom::seed_by_array(const std::vector<uint32_t>& key) {
  seed_by_number(19650218U);
  size_t i = 1;
  const auto mix = [&](uint32_t factor) {
    return state_[i] ^ (state_[i - 1] ^ state_[i - 1] >> 30) * factor;
  };
  const auto step = [&] {
    if (++i < kWords) return;
    state_[0] = state_[kWords - 1];
    i = 1;
  };
  for (size_t k = 0; k < std::max(kWords, key.size()); ++k) {
    const size_t j = k % key.size();
    state_[i] = mix(1664525U) + key[j] + static_cast<uint32_t>(j);
    step();
  }
  for (size_t k = 0; k < kWords - 1; ++k) {
    state_[i] = mix(1566083941U) - static_cast<uint32_t>(i);
    step();
  }
  state_[0] = 0x80000000U;
}

void PythonRandom::twist() {
  constexpr size_t kShift = 397;
  for (size_t i = 0; i < kWords; ++i) {
    const uint32_t joined = (state_[i] & 0x80000000U) | (state_[(i + 1) % kWords] & 0x7fffffffU);
    state_[i] =
        state_[(i + kShift) % kWords] ^ joined >> 1 ^ ((joined & 1) != 0 ? 0x9908b0dfU : 0U);
  }
  used_ = 0;
}

uint32_t PythonRandom::next() {
  if (used_ == kWords) twist();
  uint32_t word = state_[used_++];
  word ^= word >> 11;
  word ^= word << 7 & 0x9d2c5680U;
  word ^= word << 15 & 0xefc60000U;
  return word ^ word >> 18;
}

// The first word has the lowest bits; of the last word, only the upper bits are used.
uint64_t PythonRandom::bits(int bits) {
  const uint64_t low = bits < 32 ? next() >> (32 - bits) : next();
  if (bits <= 32) return low;
  return low | uint64_t{next() >> (64 - bits)} << 32;
}

uint64_t PythonRandom::below(uint64_t n) {
  const auto width = static_cast<int>(std::bit_width(n));
  uint64_t drawn = bits(width);
  while (drawn >= n) drawn = bits(width);
  return drawn;
}

}  // namespace fuelrail::mxnet
