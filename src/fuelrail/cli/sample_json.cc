#include "fuelrail/cli/sample_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <string_view>
#include <utility>

#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/base/half.h"
#include "fuelrail/cli/text.h"
#include "fuelrail/container/schema_text.h"
#include "fuelrail/decode/probe.h"

namespace fuelrail::cli {
namespace {

// With the digits that a float32 needs, not those of the double that equals it.
Json float_json(float value) { return std::stod(fmt::to_string(value)); }

template <typename Number>
Json number_json(const std::byte* at) {
  return load_le<Number>(at);
}

Json element_json(const std::byte* at, DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return load_le<uint8_t>(at) != 0;
    case DType::kUint8:
      return number_json<uint8_t>(at);
    case DType::kInt8:
      return number_json<int8_t>(at);
    case DType::kUint16:
      return number_json<uint16_t>(at);
    case DType::kInt16:
      return number_json<int16_t>(at);
    case DType::kUint32:
      return number_json<uint32_t>(at);
    case DType::kInt32:
      return number_json<int32_t>(at);
    case DType::kUint64:
      return number_json<uint64_t>(at);
    case DType::kInt64:
      return number_json<int64_t>(at);
    case DType::kFloat16:
      return float_json(from_half(load_le<uint16_t>(at)));
    case DType::kBfloat16:
      return float_json(from_bfloat16(load_le<uint16_t>(at)));
    case DType::kFloat32:
      return float_json(load_le<float>(at));
    case DType::kFloat64:
      return load_le<double>(at);
  }
  return nullptr;
}

constexpr size_t kMostElements = size_t{1} << 22;  // of a tensor, in JSON

// Nested arrays. `shape`: the extents that are left.
Json tensor_json(Bytes elements, DType dtype, std::span<const int64_t> shape) {
  if (shape.empty()) return element_json(elements.data(), dtype);
  const auto count = static_cast<size_t>(shape[0]);
  const size_t bytes = count == 0 ? 0 : elements.size() / count;
  std::vector<Json> rows;
  if (bytes == 0 && shape.size() > 1) return rows;  // without elements
  for (size_t k = 0; k < count; ++k) {
    rows.push_back(tensor_json(elements.subspan(k * bytes, bytes), dtype, shape.subspan(1)));
  }
  return rows;
}

Json image_json(const EncodedImage& image) {
  try {
    const ImageInfo info = probe(image);
    return {{"format", std::string(info.format->name)},
            {"height", info.stored.height},
            {"width", info.stored.width},
            {"bytes", image.bytes.size()}};
  } catch (const Error&) {  // `verify` reports the cause
    return {{"format", nullptr}, {"bytes", image.bytes.size()}};
  }
}

Json item_json(const FieldSpec& field, const EncodedImage& item) {
  if (field.kind == FieldKind::kImage) return image_json(item);
  if (field.kind == FieldKind::kText) return std::string(as_text(item.bytes));
  return {{"bytes", item.bytes.size()}};
}

Json value_json(const FieldSpec& field, const FieldValue& value) {
  if (field.has(kListField)) {
    std::vector<Json> items;
    for (const Bytes item : value.items) items.push_back(item_json(field, item));
    return items;
  }
  if (field.kind != FieldKind::kTensor) return item_json(field, value);
  const std::vector<int64_t>& shape = value.shape.empty() ? field.shape : value.shape;
  if (value.bytes.size() / size_in_bytes(field.dtype) > kMostElements) {
    return {{"dtype", name_of(field.dtype)}, {"shape", shape}, {"bytes", value.bytes.size()}};
  }
  return tensor_json(value.bytes, field.dtype, shape);
}

// A value and the part of its path that is left.
struct PathValue {
  std::string_view path;
  Json value;
};

Json tree_json(std::vector<PathValue> values) {
  std::vector<std::pair<std::string, std::vector<PathValue>>> groups;
  for (PathValue& value : values) {
    const size_t end = std::min(value.path.find('.'), value.path.size());
    const std::string part(value.path.substr(0, end));
    auto group = std::ranges::find(groups, part, &decltype(groups)::value_type::first);
    if (group == groups.end()) group = groups.insert(group, {part, {}});
    group->second.push_back(
        {value.path.substr(std::min(end + 1, value.path.size())), std::move(value.value)});
  }
  std::vector<Json::Member> members;
  for (auto& [part, inside] : groups) {
    const bool is_field = inside.front().path.empty();
    members.emplace_back(part,
                         is_field ? std::move(inside.front().value) : tree_json(std::move(inside)));
  }
  const bool is_list = std::isdigit(static_cast<unsigned char>(groups.front().first[0])) != 0;
  if (!is_list) return members;
  std::ranges::sort(members, {},
                    [](const Json::Member& member) { return std::stoul(member.first); });
  std::vector<Json> elements;
  for (auto& [number, element] : members) elements.push_back(std::move(element));
  return elements;
}

std::string name_or_dash(const Schema& schema, std::optional<uint16_t> field) {
  return field && *field < schema.fields.size() ? schema.fields[*field].name : "-";
}

// Besides `of` and `rows`, which are columns, and with the number of class names.
std::string other_properties(const Container& container, const FieldSpec& field) {
  FieldSpec alone = field;
  alone.of.reset();
  alone.rows.reset();
  std::vector<std::string> properties = properties_of(container.schema(), alone);
  if (const size_t classes = container.classes_of(field.name).size();
      classes > 0 && field.role == Role::kLabel) {
    properties.push_back(counted(classes, "class name"));
  }
  return fmt::format("{}", fmt::join(properties, ", "));
}

}  // namespace

Json sample_json(const Schema& schema, const Sample& sample, std::optional<size_t> field) {
  std::vector<PathValue> values;
  for (size_t number = 0; number < schema.fields.size(); ++number) {
    if (field && *field != number) continue;
    values.push_back(
        {schema.fields[number].name, value_json(schema.fields[number], sample.fields[number])});
  }
  return tree_json(std::move(values));
}

Json field_json(const Container& container, const FieldSpec& field) {
  const Schema& schema = container.schema();
  const bool tensor = field.kind == FieldKind::kTensor;
  const auto name = [&](std::optional<uint16_t> number) {
    return number ? Json(name_or_dash(schema, number)) : Json();
  };
  FieldSpec alone = field;
  alone.of.reset();
  alone.rows.reset();
  const std::vector<std::string>& classes = container.classes_of(field.name);
  const bool has_classes = field.role == Role::kLabel && !classes.empty();
  return {{"name", field.name},
          {"kind", describe(field)},
          {"dtype", tensor ? Json(name_of(field.dtype)) : Json()},
          {"shape", tensor ? Json(field.shape) : Json()},
          {"role", field.role == Role::kNone ? Json() : Json(name_of(field.role))},
          {"of", name(field.of)},
          {"rows", name(field.rows)},
          {"properties", properties_of(schema, alone)},
          {"classes", has_classes ? Json(classes) : Json()}};
}

std::vector<std::string> field_table(const Container& container) {
  const Schema& schema = container.schema();
  using Row = std::array<std::string, 8>;
  std::vector<Row> rows{{"name", "kind", "dtype", "shape", "role", "of", "rows", "properties"}};
  for (const FieldSpec& field : schema.fields) {
    const bool tensor = field.kind == FieldKind::kTensor;
    const std::string kind = name_of(field.kind);
    rows.push_back({field.name, field.has(kListField) ? "list of " + kind : kind,
                    tensor ? name_of(field.dtype) : "-",
                    tensor ? fmt::format("[{}]", fmt::join(field.shape, ", ")) : "-",
                    field.role == Role::kNone ? "-" : name_of(field.role),
                    name_or_dash(schema, field.of), name_or_dash(schema, field.rows),
                    other_properties(container, field)});
  }
  std::array<size_t, 8> widths{};
  for (const Row& row : rows) {
    for (size_t k = 0; k < row.size(); ++k) widths[k] = std::max(widths[k], row[k].size());
  }
  std::vector<std::string> lines;
  for (const Row& row : rows) {
    std::string line;
    for (size_t k = 0; k < row.size(); ++k) line += fmt::format("{:<{}}  ", row[k], widths[k]);
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace fuelrail::cli
