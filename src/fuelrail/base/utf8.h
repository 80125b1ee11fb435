// Decodes UTF-8, one character at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fuelrail {

struct Utf8Character {
  uint32_t code = 0;
  size_t bytes = 0;  // 0: the text does not begin with a valid character
};

// The first character of `text`. Surrogates are invalid unless `surrogates` is true (Python's
// "surrogatepass" writes them). Requires: the text is not empty.
Utf8Character first_character(std::string_view text, bool surrogates = false);

// The number of bytes before the first invalid character; all of them if the text is UTF-8.
size_t utf8_bytes(std::string_view text);

}  // namespace fuelrail
