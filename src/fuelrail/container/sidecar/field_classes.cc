#include "fuelrail/container/sidecar/field_classes.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/base/json.h"

namespace fuelrail {
namespace {

[[noreturn]] void throw_no_names(ErrorDetail detail = {}) {
  throw CorruptError("the sidecar's class names of fields are invalid", std::move(detail));
}

std::vector<std::string> names_in(const nlohmann::json& list) {
  if (!list.is_array()) throw_no_names({.expected = "a list of names for each field"});
  std::vector<std::string> names;
  for (const nlohmann::json& name : list) {
    if (!name.is_string()) throw_no_names({.expected = "a list of names for each field"});
    names.push_back(name.get<std::string>());
  }
  return names;
}

}  // namespace

std::string json_of(const FieldClasses& classes) {
  std::vector<Json::Member> fields;
  for (const auto& [field, names] : classes) fields.emplace_back(field, Json(names));
  return Json{{"classes", Json(fields)}}.text();
}

FieldClasses parse_field_classes(std::string_view text) {
  // Values nested more deeply are dropped, so that deep nesting is harmless.
  const auto keep = [](int depth, nlohmann::json::parse_event_t, const nlohmann::json&) {
    return depth <= 3;
  };
  const nlohmann::json object = nlohmann::json::parse(text, keep, false);
  if (!object.is_object()) throw_no_names({.expected = "a JSON object"});
  FieldClasses classes;
  const auto fields = object.find("classes");
  if (fields == object.end()) return classes;
  if (!fields->is_object()) throw_no_names({.expected = "an object with a member for each field"});
  for (const auto& [field, names] : fields->items()) classes[field] = names_in(names);
  return classes;
}

}  // namespace fuelrail
