#include "fuelrail/pack/annotations/json_value.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "fuelrail/base/error.h"

namespace fuelrail::pack {

using nlohmann::json;

std::string short_text(const json& value) {
  constexpr size_t kShownCharacters = 60;
  if (value.is_object()) return "an object";
  if (value.is_discarded()) return "an array";
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > kShownCharacters) text = text.substr(0, kShownCharacters - 3) + "...";
  return text;
}

void refuse_type(const std::string& place, const std::string& expected, const json& found) {
  throw CorruptError(fmt::format("`{}` has the wrong type", place),
                     {.expected = expected, .found = short_text(found)});
}

const json* JsonValue::find(std::string_view name) const {
  const auto found = value.find(name);
  return found == value.end() || found->is_null() ? nullptr : &*found;
}

JsonValue JsonValue::member(const char* name) const {
  const json* found = find(name);
  if (found == nullptr) throw CorruptError(fmt::format("`{}.{}` does not exist", place, name));
  return {*found, fmt::format("{}.{}", place, name)};
}

JsonValue JsonValue::operator[](size_t i) const {
  return {value[i], fmt::format("{}[{}]", place, i)};
}

const JsonValue& JsonValue::array(const char* expected) const {
  if (!value.is_array()) refuse_type(place, expected, value);
  return *this;
}

std::string JsonValue::text() const {
  if (!value.is_string()) refuse_type(place, "a string", value);
  return value.get<std::string>();
}

uint64_t JsonValue::whole_number(uint64_t most) const {
  if (!value.is_number_unsigned() || value.get<uint64_t>() > most) {
    refuse_type(place, fmt::format("a whole number from 0 to {}", most), value);
  }
  return value.get<uint64_t>();
}

double JsonValue::number() const {
  const double found = value.is_number() ? value.get<double>() : std::nan("");
  if (!(std::abs(found) <= std::numeric_limits<float>::max())) {
    refuse_type(place, "a finite number", value);
  }
  return found;
}

}  // namespace fuelrail::pack
