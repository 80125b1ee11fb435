// What a user says of an epoch's order: none, full, or by windows. One value.
#pragma once

#include <cstdint>
#include <string>

namespace fuelrail {

struct Shuffle {
  enum class Kind : uint8_t { kNone, kFull, kWindow };

  Kind kind = Kind::kNone;
  uint64_t block = 0;   // of kWindow: so many consecutive records stay near one another
  uint64_t blocks = 0;  // of kWindow: so many blocks are mixed with one another

  static const Shuffle kNone;  // the records' own order
  static const Shuffle kFull;  // a permutation of all records, another one in every epoch
  // Blocks of consecutive records in an order that is permuted anew in every epoch; so many of them
  // at a time make a window, inside which records are permuted (window_order.h).
  static constexpr Shuffle window(uint64_t block, uint64_t blocks) {
    return {Kind::kWindow, block, blocks};
  }

  friend bool operator==(const Shuffle&, const Shuffle&) = default;
};

inline constexpr Shuffle Shuffle::kNone{Kind::kNone};
inline constexpr Shuffle Shuffle::kFull{Kind::kFull};

// "none", "full" or "window(256, 64)". Frozen: saved states hold it.
std::string to_string(const Shuffle& shuffle);

// Errors: InvalidArgumentError for a window of no block, or of blocks without records.
void check(const Shuffle& shuffle);

}  // namespace fuelrail
