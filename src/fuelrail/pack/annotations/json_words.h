// Words that are not JSON, although Python's json module writes them.
#pragma once

#include <string_view>

namespace fuelrail::pack {

// "NaN" or "Infinity" if the text begins with that word; else empty.
inline std::string_view python_word(std::string_view text) {
  for (const std::string_view word : {"NaN", "Infinity"}) {
    if (text.starts_with(word)) return word;
  }
  return {};
}

inline constexpr const char* kNoPythonWords =
    "JSON has no such number: leave out what it belongs to, or write a finite number";

}  // namespace fuelrail::pack
