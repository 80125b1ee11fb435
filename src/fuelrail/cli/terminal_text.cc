#include "fuelrail/cli/terminal_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuelrail/base/utf8.h"

namespace fuelrail::cli {
namespace {

bool is_plain(char c) { return c >= 0x20 && c < 0x7f; }

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
    const Utf8Character character = first_character(text);
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
