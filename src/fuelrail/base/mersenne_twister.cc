#include "fuelrail/base/mersenne_twister.h"

#include <algorithm>

namespace fuelrail {
namespace {

constexpr size_t kShift = 397;

uint32_t twisted(uint32_t word, uint32_t next, uint32_t shifted) {
  const uint32_t joined = (word & 0x80000000U) | (next & 0x7fffffffU);
  return shifted ^ joined >> 1 ^ ((joined & 1) != 0 ? 0x9908b0dfU : 0U);
}

}  // namespace

MersenneTwister::MersenneTwister(uint32_t seed) {
  auto& words = state_.words;
  words[0] = seed;
  for (uint32_t i = 1; i < kWords; ++i) {
    words[i] = 1812433253U * (words[i - 1] ^ words[i - 1] >> 30) + i;
  }
}

MersenneTwister::MersenneTwister(std::span<const uint32_t> key) : MersenneTwister(19650218U) {
  auto& words = state_.words;
  size_t i = 1;
  const auto mix = [&](uint32_t factor) {
    return words[i] ^ (words[i - 1] ^ words[i - 1] >> 30) * factor;
  };
  const auto step = [&] {
    if (++i < kWords) return;
    words[0] = words[kWords - 1];
    i = 1;
  };
  for (size_t k = 0; k < std::max(kWords, key.size()); ++k) {
    const size_t j = k % key.size();
    words[i] = mix(1664525U) + key[j] + static_cast<uint32_t>(j);
    step();
  }
  for (size_t k = 0; k < kWords - 1; ++k) {
    words[i] = mix(1566083941U) - static_cast<uint32_t>(i);
    step();
  }
  words[0] = 0x80000000U;
}

void MersenneTwister::replace_words() {
  auto& words = state_.words;
  constexpr size_t kFirst = kWords - kShift;
  for (size_t i = 0; i < kFirst; ++i) {
    words[i] = twisted(words[i], words[i + 1], words[i + kShift]);
  }
  for (size_t i = kFirst; i < kWords - 1; ++i) {
    words[i] = twisted(words[i], words[i + 1], words[i - kFirst]);
  }
  words[kWords - 1] = twisted(words[kWords - 1], words[0], words[kShift - 1]);
  state_.used = 0;
}

uint32_t MersenneTwister::next() {
  if (state_.used == kWords) replace_words();
  uint32_t word = state_.words[state_.used++];
  word ^= word >> 11;
  word ^= word << 7 & 0x9d2c5680U;
  word ^= word << 15 & 0xefc60000U;
  return word ^ word >> 18;
}

}  // namespace fuelrail
