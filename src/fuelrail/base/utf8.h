// UTF-8, one character at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fuelrail {

struct Utf8Character {
  uint32_t code = 0;
  size_t bytes = 0;  // 0: no character begins here
};

// The character that `text` begins with. Surrogates are none, unless `surrogates`: Python's
// "surrogatepass" writes them. Requires: the text is not empty.
Utf8Character first_character(std::string_view text, bool surrogates = false);

}  // namespace fuelrail
