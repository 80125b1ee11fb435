// Integers and floats of a fixed byte order at any address, aligned or not. All of fuelrail's
// little-endian formats are read and written with these functions, never by casting structs.
#pragma once

#include <bit>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <vector>

namespace fuelrail {

// T is an arithmetic type of 1, 2, 4 or 8 bytes.
template <typename T>
T load_le(const std::byte* at) {
  static_assert(std::is_arithmetic_v<T>);
  static_assert(std::endian::native == std::endian::little,
                "big-endian hosts need a byte swap here");
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// T is an unsigned integer of 2, 4 or 8 bytes, stored big-endian.
template <typename T>
T load_be(const std::byte* at) {
  static_assert(std::is_unsigned_v<T>);
  const T value = load_le<T>(at);
  if constexpr (sizeof(T) == 2) return __builtin_bswap16(value);
  if constexpr (sizeof(T) == 4) return __builtin_bswap32(value);
  if constexpr (sizeof(T) == 8) return __builtin_bswap64(value);
}

template <typename T>
void store_le(std::byte* at, T value) {
  static_assert(std::is_arithmetic_v<T>);
  static_assert(std::endian::native == std::endian::little,
                "big-endian hosts need a byte swap here");
  std::memcpy(at, &value, sizeof value);
}

template <typename T>
void append_le(std::vector<std::byte>& out, T value) {
  out.resize(out.size() + sizeof value);
  store_le(out.data() + out.size() - sizeof value, value);
}

}  // namespace fuelrail
