// Capacity classes for reused memory: 5, 6, 7 and 8 times a power of two, so that a block can be
// reused for similar sizes and is at most a quarter larger than needed.
#pragma once

#include <bit>
#include <cstddef>
#include <new>

namespace fuelrail {

struct SizeClass {
  size_t index;
  size_t capacity;
};

inline constexpr size_t kSizeClasses = 4 * 64;

// The smallest class with room for `bytes`. Requires: bytes >= 5. Errors: std::bad_alloc for more
// than PTRDIFF_MAX.
inline SizeClass size_class_of(size_t bytes) {
  if (bytes > PTRDIFF_MAX) throw std::bad_alloc();
  const auto doubling = static_cast<size_t>(std::bit_width(bytes - 1)) - 1;
  const size_t unit = size_t{1} << (doubling - 2);
  const size_t units = (bytes + unit - 1) / unit;
  return {doubling * 4 + (units - 5), units * unit};
}

}  // namespace fuelrail
