#include "fuelrail/cli/terminal_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace fuelrail::cli {
namespace {

bool is_plain(char c) { return c >= 0x20 && c < 0x7f; }

struct Character {
  uint32_t code = 0;
  size_t bytes = 0;  // 0: no UTF-8
};

// What leads a character of so many bytes, and the smallest that needs them.
struct Lead {
  uint8_t mask;
  uint8_t bits;
  size_t bytes;
  uint32_t smallest;
};
constexpr Lead kLeads[] = {
    {0x80, 0x00, 1, 0}, {0xe0, 0xc0, 2, 0x80}, {0xf0, 0xe0, 3, 0x800}, {0xf8, 0xf0, 4, 0x10000}};

// The first character. Requires: the text is not empty.
Character first_of(std::string_view text) {
  const auto first = static_cast<uint8_t>(text[0]);
  const auto* lead = std::find_if(std::begin(kLeads), std::end(kLeads), [&](const Lead& candidate) {
    return (first & candidate.mask) == candidate.bits;
  });
  if (lead == std::end(kLeads) || text.size() < lead->bytes) return {};
  uint32_t code = first & ~lead->mask;
  for (size_t i = 1; i < lead->bytes; ++i) {
    const auto next = static_cast<uint8_t>(text[i]);
    if ((next & 0xc0) != 0x80) return {};
    code = code << 6 | (next & 0x3f);
  }
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < lead->smallest || code > 0x10ffff || surrogate) return {};
  return {code, lead->bytes};
}

bool controls_terminal(uint32_t code) {
  if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) return true;  // C0, DEL, C1
  return code == 0x061c || code == 0x200e || code == 0x200f ||     // bidirectional marks
         (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

std::string escaped(uint32_t code) {
  switch (code) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return fmt::format("\\u{:04x}", code);
  }
}

}  // namespace

std::string escaped_for_terminal(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const auto* const end = std::find_if_not(text.begin(), text.end(), is_plain);
    safe.append(text.begin(), end);
    text.remove_prefix(static_cast<size_t>(end - text.begin()));
    if (text.empty()) break;
    const Character character = first_of(text);
    const size_t bytes = std::max<size_t>(character.bytes, 1);
    if (character.bytes == 0) {
      safe += fmt::format("\\x{:02x}", static_cast<uint8_t>(text[0]));
    } else if (controls_terminal(character.code)) {
      safe += escaped(character.code);
    } else {
      safe += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return safe;
}

}  // namespace fuelrail::cli
