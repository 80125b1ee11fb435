// JSON that is written: what commands and reports say. Nothing here parses.
#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fuelrail {

// A value, as the text that it becomes. An object keeps the order of its members:
// Json{{"name", 1}, {"inner", {{"list", std::vector<int>{1, 2}}}}}.
class Json {
 public:
  using Member = std::pair<std::string, Json>;

  Json(std::nullptr_t = nullptr) : text_("null") {}
  Json(bool value) : text_(value ? "true" : "false") {}
  Json(std::integral auto value) : text_(std::to_string(value)) {}
  Json(double value);  // null where it is not finite
  Json(const std::string& text);
  Json(const char* text) : Json(std::string(text)) {}
  Json(const std::vector<Json>& array);
  Json(const std::vector<Member>& object);
  Json(std::initializer_list<Member> object) : Json(std::vector<Member>(object)) {}

  // An array of them.
  template <typename T>
  Json(const std::vector<T>& values) : Json(std::vector<Json>(values.begin(), values.end())) {}

  // JSON null where `value` is empty.
  template <typename T>
  Json(const std::optional<T>& value) : Json(value ? Json(*value) : Json()) {}

  // On one line. Each sequence of a text that is not UTF-8 becomes one U+FFFD.
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace fuelrail
