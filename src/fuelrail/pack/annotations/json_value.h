// A JSON value that knows its place in the file, for messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace fuelrail::pack {

// "an object", "[1, 2, ...": a short text of a value, for `found`.
std::string short_text(const nlohmann::json& value);

// CorruptError: "`annotations[12].bbox` has the wrong type".
[[noreturn]] void refuse_type(const std::string& place, const std::string& expected,
                              const nlohmann::json& found);

// A value and its place. The methods that return a value throw CorruptError if it has another type.
struct JsonValue {
  const nlohmann::json& value;
  std::string place;  // "annotations[12].bbox"

  // Null if there is no such member, and if it is null.
  const nlohmann::json* find(std::string_view name) const;
  // CorruptError if there is no such member.
  JsonValue member(const char* name) const;
  // Requires: an array.
  JsonValue operator[](size_t i) const;
  size_t size() const { return value.size(); }

  const JsonValue& array(const char* expected) const;
  std::string text() const;
  // From 0 to `most`.
  uint64_t whole_number(uint64_t most) const;
  // A number that fits into float32.
  double number() const;
};

}  // namespace fuelrail::pack
