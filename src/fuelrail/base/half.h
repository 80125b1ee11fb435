// Bits of 16-bit floats: IEEE 754 binary16 (half), and bfloat16, the upper half of a float32.
#pragma once

#include <bit>
#include <cstdint>

namespace fuelrail {

// Returns: the nearest half, ties to even; infinity from 65520 on. Requires: not NaN.
constexpr uint16_t to_half(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude >= 0x477ff000) return static_cast<uint16_t>(sign | 0x7c00);  // 65520
  uint32_t significand = magnitude;  // in units of 2^-13 of a half's last place
  uint32_t dropped_bits = 13;
  if (magnitude < 0x38800000) {  // 2^-14: a subnormal half, or 0
    dropped_bits = 126 - (magnitude >> 23);
    if (dropped_bits > 24) return static_cast<uint16_t>(sign);
    significand = (magnitude & 0x7fffff) | 0x800000;
  } else {
    significand -= 112u << 23;  // the exponent's bias is 15 instead of 127
  }
  const uint32_t half = significand >> dropped_bits;
  const uint32_t dropped = significand & ((1u << dropped_bits) - 1);
  const uint32_t middle = 1u << (dropped_bits - 1);
  const uint32_t up = dropped > middle || (dropped == middle && (half & 1) != 0) ? 1 : 0;
  return static_cast<uint16_t>(sign | (half + up));
}

// Returns: the same number, infinity or NaN. Masks instead of branches let g++ vectorize loops, and
// no subnormal float is computed with, because some programs flush them to 0.
constexpr float from_half(uint16_t half) {
  const uint32_t sign = (half & 0x8000u) << 16;
  const uint32_t magnitude = (half & 0x7fffu) << 13;
  const uint32_t normal = magnitude + (112u << 23);  // the exponent's bias is 127 instead of 15
  const float above = std::bit_cast<float>(magnitude + (113u << 23));  // 2^-14 and a subnormal half
  const auto subnormal = std::bit_cast<uint32_t>(above - 0x1p-14f);
  const uint32_t if_subnormal = 0u - static_cast<uint32_t>(magnitude < 1u << 23);
  const uint32_t if_special = 0u - static_cast<uint32_t>(magnitude >= 31u << 23);
  const uint32_t finite = (subnormal & if_subnormal) | (normal & ~if_subnormal);
  return std::bit_cast<float>(sign | finite | (0x7f800000 & if_special));  // infinity or NaN
}

// Returns: the nearest bfloat16, ties to even; infinity for values beyond the largest bfloat16.
// Requires: not NaN.
constexpr uint16_t to_bfloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

constexpr float from_bfloat16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

}  // namespace fuelrail
