#include "fuelrail/container/sample.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "fuelrail/base/error.h"

namespace fuelrail {
namespace {

auto find_field(const std::vector<FieldSpec>& fields, std::string_view name) {
  return std::find_if(fields.begin(), fields.end(),
                      [&](const FieldSpec& field) { return field.name == name; });
}

}  // namespace

const char* name_of(FieldKind kind) {
  static constexpr const char* kNames[kFieldKinds] = {"image", "tensor", "bytes", "text"};
  return kNames[static_cast<size_t>(kind)];
}

const char* name_of(Role role) {
  static constexpr const char* kNames[kRoles] = {"",      "image",  "mask",   "map",
                                                 "boxes", "points", "camera", "label"};
  return kNames[static_cast<size_t>(role)];
}

FieldSpec image_field(std::string name) {
  return {.name = std::move(name), .kind = FieldKind::kImage, .role = Role::kImage};
}

FieldSpec label_field(std::string name) {
  return {.name = std::move(name),
          .kind = FieldKind::kTensor,
          .dtype = DType::kInt64,
          .role = Role::kLabel};
}

std::string describe(const FieldSpec& field) {
  std::string text = name_of(field.kind);
  if (field.kind == FieldKind::kTensor) {
    text += fmt::format(" {} [{}]", name_of(field.dtype), fmt::join(field.shape, ", "));
  }
  if (field.has(kListField)) text = "list of " + text;
  const bool says_more = field.role > Role::kImage && field.role != Role::kLabel;
  return says_more ? fmt::format("{}: {}", name_of(field.role), text) : text;
}

std::optional<size_t> only_image(const Schema& schema) {
  std::optional<size_t> found;
  for (size_t number = 0; number < schema.fields.size(); ++number) {
    const FieldSpec& field = schema.fields[number];
    if (field.kind != FieldKind::kImage) continue;
    if (found || field.has(kListField)) return std::nullopt;
    found = number;
  }
  return found;
}

std::string item_name(const FieldSpec& field, size_t item) {
  return field.has(kListField) ? fmt::format("{}[{}]", field.name, item) : field.name;
}

std::string image_name(const Schema& schema, size_t field, size_t item) {
  const FieldSpec& image = schema.fields[field];
  if (image.has(kListField)) return item_name(image, item);
  const auto is_other = [&image](const FieldSpec& other) {
    return other.kind == FieldKind::kImage && &other != &image;
  };
  return std::ranges::any_of(schema.fields, is_other) ? image.name : "";
}

size_t Schema::index_of(std::string_view name) const {
  const auto found = find_field(fields, name);
  if (found != fields.end()) return static_cast<size_t>(found - fields.begin());
  std::vector<std::string> names;
  for (const FieldSpec& field : fields) names.push_back(field.name);
  throw InvalidArgumentError(fmt::format("unknown field '{}'", name),
                             {.remedy = suggest(std::string(name), names)});
}

bool Schema::has(std::string_view name) const { return find_field(fields, name) != fields.end(); }

}  // namespace fuelrail
