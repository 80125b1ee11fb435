#include "fuelrail/base/json.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "fuelrail/base/utf8.h"

namespace fuelrail {
namespace {

std::string escaped(char character) {
  constexpr std::string_view kCharacters = "\"\\\b\f\n\r\t";
  constexpr std::string_view kLetters = "\"\\bfnrt";
  const size_t at = kCharacters.find(character);
  if (at != std::string_view::npos) return {'\\', kLetters[at]};
  return fmt::format("\\u{:04x}", static_cast<unsigned>(character));
}

bool begins_character(std::string_view text) {
  const std::string begun(text);
  return first_character(begun + "\x80\x80\x80").bytes > 0 ||
         first_character(begun + "\xbf\xbf\xbf").bytes > 0;
}

// Length of the ill-formed UTF-8 sequence at the start of `text`: the longest prefix that could
// begin a character, at least 1. Requires: `text` does not begin with a valid character.
size_t ill_formed_bytes(std::string_view text) {
  size_t bytes = 1;
  while (bytes < text.size() && begins_character(text.substr(0, bytes + 1))) ++bytes;
  return bytes;
}

// Adds the brackets and removes the last comma.
std::string enclosed(char begin, const std::string& elements, char end) {
  return begin + elements.substr(0, elements.empty() ? 0 : elements.size() - 1) + end;
}

}  // namespace

// With a decimal point or an exponent, so that readers parse it as a float.
Json::Json(double value) : text_(std::isfinite(value) ? fmt::to_string(value) : "null") {
  if (text_.find_first_of(".enu") == std::string::npos) text_ += ".0";
}

Json::Json(const std::string& text) : text_("\"") {
  for (std::string_view rest = text; !rest.empty();) {
    const Utf8Character character = first_character(rest);
    const size_t bytes = character.bytes > 0 ? character.bytes : ill_formed_bytes(rest);
    if (character.bytes == 0) {
      text_ += "\xef\xbf\xbd";  // U+FFFD
    } else if (character.code < 0x20 || character.code == '"' || character.code == '\\') {
      text_ += escaped(rest.front());
    } else {
      text_ += rest.substr(0, bytes);
    }
    rest.remove_prefix(bytes);
  }
  text_ += '"';
}

Json::Json(const std::vector<Json>& array) {
  std::string elements;
  for (const Json& element : array) elements += element.text_ + ',';
  text_ = enclosed('[', elements, ']');
}

Json::Json(const std::vector<Member>& object) {
  std::string members;
  for (const auto& [name, value] : object) members += Json(name).text_ + ':' + value.text_ + ',';
  text_ = enclosed('{', members, '}');
}

}  // namespace fuelrail
