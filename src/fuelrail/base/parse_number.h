// Text as a number.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace fuelrail {

// The whole of `text` as a number, as std::from_chars reads it: no white space, no plus sign, the
// point as decimal point in every locale. Empty when it is none, or out of the type's range.
template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace fuelrail
