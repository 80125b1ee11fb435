// Parses numbers.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace fuelrail {

// Parses the whole of `text` as std::from_chars does: without white space or plus sign, with "." as
// the decimal point in every locale. Returns: empty if the text is not a number or is out of the
// type's range.
template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace fuelrail
