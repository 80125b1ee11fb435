// The shuffle option: none, full, or by windows.
#pragma once

#include <cstdint>
#include <string>

namespace fuelrail {

struct Shuffle {
  enum class Kind : uint8_t { kNone, kFull, kWindow };

  Kind kind = Kind::kNone;
  uint64_t block = 0;   // of kWindow: records per block, which stay near each other
  uint64_t blocks = 0;  // of kWindow: blocks per window, whose records are mixed

  static const Shuffle kNone;  // the records' own order
  static const Shuffle kFull;  // a permutation of all records, different in every epoch
  // Permutes blocks of `block` consecutive records; every `blocks` of them form a window, within
  // which records are permuted. Different in every epoch (window_order.h).
  static constexpr Shuffle window(uint64_t block, uint64_t blocks) {
    return {Kind::kWindow, block, blocks};
  }

  friend bool operator==(const Shuffle&, const Shuffle&) = default;
};

inline constexpr Shuffle Shuffle::kNone{Kind::kNone};
inline constexpr Shuffle Shuffle::kFull{Kind::kFull};

// "none", "full" or "window(256, 64)". Frozen: saved states contain it.
std::string to_string(const Shuffle& shuffle);

// Errors: InvalidArgumentError for a window of 0 blocks or blocks of 0 records.
void check(const Shuffle& shuffle);

}  // namespace fuelrail
