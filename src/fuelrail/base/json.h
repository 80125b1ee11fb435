// Writes JSON, for the output of commands and reports. Does not parse.
#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fuelrail {

// A JSON value, held as its text. An object keeps the order of its members: Json{{"name", 1},
// {"inner", {{"list", std::vector<int>{1, 2}}}}}.
class Json {
 public:
  using Member = std::pair<std::string, Json>;

  Json(std::nullptr_t = nullptr) : text_("null") {}
  Json(bool value) : text_(value ? "true" : "false") {}
  Json(std::integral auto value) : text_(std::to_string(value)) {}
  Json(double value);  // null if not finite
  Json(const std::string& text);
  Json(const char* text) : Json(std::string(text)) {}
  Json(const std::vector<Json>& array);
  Json(const std::vector<Member>& object);
  Json(std::initializer_list<Member> object) : Json(std::vector<Member>(object)) {}

  // An array of the values.
  template <typename T>
  Json(const std::vector<T>& values) : Json(std::vector<Json>(values.begin(), values.end())) {}

  // JSON null if `value` is empty.
  template <typename T>
  Json(const std::optional<T>& value) : Json(value ? Json(*value) : Json()) {}

  // The value on one line. In strings, each sequence that is not valid UTF-8 is replaced by one
  // U+FFFD.
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace fuelrail
