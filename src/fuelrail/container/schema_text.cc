#include "fuelrail/container/schema_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "fuelrail/base/half.h"

namespace fuelrail {
namespace {

constexpr size_t kShownFields = 4;

std::string detail_text(const FieldSpec& field) {
  static constexpr const char* kFormats[] = {"xyxy", "xywh", "cxcywh"};
  switch (field.role) {
    case Role::kBoxes:
      return field.detail < std::size(kFormats) ? kFormats[field.detail] : "";
    case Role::kMask:
      return fmt::format("fill {}", field.detail);
    case Role::kMap:
      return fmt::format("fill {}", from_half(field.detail));
    default:
      return "";
  }
}

std::string name_of_field(const Schema& schema, size_t number) {
  return number < schema.fields.size() ? schema.fields[number].name : fmt::to_string(number);
}

// References by name, so that the comparison of two schemas does not depend on the fields before.
struct FieldText {
  std::string text;
  size_t number;
};
std::unordered_map<std::string_view, FieldText> texts_by_name(const Schema& schema) {
  std::unordered_map<std::string_view, FieldText> texts;
  for (size_t number = 0; number < schema.fields.size(); ++number) {
    const FieldSpec& field = schema.fields[number];
    texts.emplace(field.name, FieldText{describe(schema, field), number});
  }
  return texts;
}

std::string listed_fields(const std::vector<std::string>& texts) {
  const size_t shown = std::min(texts.size(), kShownFields);
  std::string text = fmt::format("{}", fmt::join(texts.begin(), texts.begin() + shown, "; "));
  if (texts.size() > shown) text += fmt::format("; and {} more", texts.size() - shown);
  return text;
}

}  // namespace

std::vector<std::string> properties_of(const Schema& schema, const FieldSpec& field) {
  std::vector<std::string> properties;
  if (field.of) properties.push_back("of " + name_of_field(schema, *field.of));
  if (field.rows) properties.push_back("rows " + name_of_field(schema, *field.rows));
  if (std::string detail = detail_text(field); !detail.empty()) properties.push_back(detail);
  if (field.has(kRelative)) properties.emplace_back("relative");
  if (field.has(kPixelCenters)) properties.emplace_back("pixel centers");
  if (field.has(kNoColors)) properties.emplace_back("no colors");
  if (field.has(kNoVectors)) properties.emplace_back("no vectors");
  if (field.has(kRgbMask)) properties.emplace_back("rgb");
  return properties;
}

std::string describe(const Schema& schema, const FieldSpec& field) {
  std::string text = fmt::format("{}: {}", field.name, describe(field));
  if (field.role == Role::kLabel) text += ", class numbers";
  for (const std::string& property : properties_of(schema, field)) text += ", " + property;
  return text;
}

std::optional<SchemaDifference> difference(const Schema& expected, const Schema& found) {
  if (expected == found) return std::nullopt;
  const auto wanted = texts_by_name(expected);
  const auto there = texts_by_name(found);
  std::vector<std::string> only_wanted;
  std::vector<std::string> only_there;
  std::vector<std::string> places;
  std::vector<std::string> other_places;
  for (const FieldSpec& field : expected.fields) {
    const FieldText& text = wanted.at(field.name);
    const auto same = there.find(field.name);
    if (same == there.end() || same->second.text != text.text) {
      only_wanted.push_back(text.text);
      only_there.push_back(same == there.end() ? fmt::format("no field '{}'", field.name)
                                               : same->second.text);
    } else if (same->second.number != text.number) {
      places.push_back(fmt::format("'{}' as field {}", field.name, text.number));
      other_places.push_back(fmt::format("'{}' as field {}", field.name, same->second.number));
    }
  }
  for (const FieldSpec& field : found.fields) {
    if (wanted.contains(field.name)) continue;
    only_wanted.push_back(fmt::format("no field '{}'", field.name));
    only_there.push_back(there.at(field.name).text);
  }
  if (only_wanted.empty())
    return SchemaDifference{listed_fields(places), listed_fields(other_places)};
  return SchemaDifference{listed_fields(only_wanted), listed_fields(only_there)};
}

}  // namespace fuelrail
