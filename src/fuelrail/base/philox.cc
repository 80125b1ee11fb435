#include "fuelrail/base/philox.h"

namespace fuelrail {

PhiloxBlock philox4x32_10(PhiloxBlock counter, std::array<uint32_t, 2> key) {
  constexpr uint64_t kMultiplier0 = 0xD2511F53;
  constexpr uint64_t kMultiplier1 = 0xCD9E8D57;
  constexpr uint32_t kWeyl0 = 0x9E3779B9;
  constexpr uint32_t kWeyl1 = 0xBB67AE85;
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = kMultiplier0 * counter[0];
    const uint64_t product1 = kMultiplier1 * counter[2];
    counter = {static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
               static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
               static_cast<uint32_t>(product0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

uint32_t Philox::bits(uint32_t operation, uint32_t draw) const {
  const PhiloxBlock block =
      philox4x32_10({static_cast<uint32_t>(position_), static_cast<uint32_t>(position_ >> 32),
                     epoch_, operation << 16 | draw >> 2},
                    {static_cast<uint32_t>(seed_), static_cast<uint32_t>(seed_ >> 32)});
  return block[draw & 3];
}

uint64_t Philox::below64(uint32_t operation, uint32_t draw, uint64_t bound) const {
  const uint64_t low = bits(operation, draw);
  const uint64_t high = bits(operation, draw + 1);
  // The high word of (high, low) * bound, computed from 32-bit products that do not overflow.
  const uint64_t bound_low = bound & 0xffffffff;
  const uint64_t bound_high = bound >> 32;
  const uint64_t middle = high * bound_low + (low * bound_low >> 32);
  const uint64_t carry = (middle & 0xffffffff) + low * bound_high;
  return high * bound_high + (middle >> 32) + (carry >> 32);
}

}  // namespace fuelrail
