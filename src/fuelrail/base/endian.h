// Little-endian integers and floats at any address, aligned or not. All of fuelrail's little-endian
// formats are read and written with these functions, never by casting structs.
#pragma once

#include <bit>
#include <cstddef>
#include <cstring>
#include <type_traits>

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

template <typename T>
void store_le(std::byte* at, T value) {
  static_assert(std::is_arithmetic_v<T>);
  static_assert(std::endian::native == std::endian::little,
                "big-endian hosts need a byte swap here");
  std::memcpy(at, &value, sizeof value);
}

}  // namespace fuelrail
