// Bytes as hexadecimal text, and the literal examples of docs/formats/*.md.
#pragma once

#include <cstddef>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "fuelrail/base/bytes.h"

namespace fuelrail {

// Spaces are ignored. Errors: std::invalid_argument for anything that is not hexadecimal.
inline std::vector<std::byte> bytes_of_hex(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c != ' ') digits += c;
  }
  std::vector<std::byte> bytes;
  for (size_t i = 0; i < digits.size(); i += 2) {
    const std::string pair = digits.substr(i, 2);
    size_t used = 0;
    bytes.push_back(static_cast<std::byte>(std::stoi(pair, &used, 16)));
    if (used != 2) throw std::invalid_argument("not hexadecimal: " + pair);
  }
  return bytes;
}

inline std::string hex_of(Bytes bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte b : bytes) {
    text += kDigits[std::to_integer<size_t>(b >> 4)];
    text += kDigits[std::to_integer<size_t>(b & std::byte{15})];
  }
  return text;
}

// The lines of the first fenced block of docs/formats/`page` that begins with "```" + `language`.
inline std::vector<std::string> format_page_block(std::string_view page,
                                                  std::string_view language) {
  std::ifstream file(std::string(FUELRAIL_SOURCE_DIR) + "/docs/formats/" + std::string(page));
  std::vector<std::string> lines;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (!inside) {
      inside = line == "```" + std::string(language);
    } else if (line == "```") {
      return lines;
    } else {
      lines.push_back(line);
    }
  }
  throw std::runtime_error("no such block in " + std::string(page));
}

}  // namespace fuelrail
