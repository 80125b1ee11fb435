#include "fuelrail/pack/annotations/jsonl_columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "fuelrail/base/error.h"
#include "fuelrail/container/files/files_container.h"

namespace fuelrail::pack {
namespace {

using Value = nlohmann::ordered_json;

constexpr int kMostGroups = 32;
constexpr size_t kMostExtents = 8;
constexpr double kLargestExact = 1 << 24;  // float32 holds all whole numbers up to it

std::string shown(const Value& value) {
  if (value.is_structured()) return std::string("an ") + value.type_name();
  std::string text = value.dump(-1, ' ', true, Value::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

void add_cells(const std::string& prefix, const Value& object, int depth, JsonCells& cells) {
  for (const auto& [name, value] : object.items()) {
    const std::string path = prefix + name;
    if (value.is_null()) {
      throw CorruptError(fmt::format("`{}` is null", path),
                         {.remedy = "Write an empty list or an empty string for an absent value"});
    }
    if (!value.is_object()) {
      cells.emplace_back(path, &value);
    } else if (depth == kMostGroups) {
      throw CorruptError(fmt::format("`{}` is nested too deeply", path),
                         {.expected = fmt::format("at most {} levels", kMostGroups)});
    } else {
      add_cells(path + ".", value, depth + 1, cells);
    }
  }
}

}  // namespace

JsonCells parse_jsonl(std::string_view line, Value& out) {
  try {
    out = Value::parse(line);
  } catch (const nlohmann::json::exception&) {
    throw CorruptError("the line is not valid JSON");
  }
  if (!out.is_object()) {
    throw CorruptError("the line is not a JSON object", {.found = shown(out)});
  }
  JsonCells cells;
  add_cells("", out, 1, cells);
  return cells;
}

void JsonColumn::add(const Value& value) {
  if (!value.is_array()) {
    add_element(value);
    if (value.is_string()) add_text(value.get_ref<const std::string&>());
    return add_extents({});
  }
  const bool texts = !value.empty() && value.front().is_string();
  if (!texts) return add_extents(add_numbers(value, 1));
  add_kind(Kind::kText);
  for (const Value& item : value) {
    if (!item.is_string()) refuse("has a list of several types", "strings only", shown(item));
    add_text(item.get_ref<const std::string&>());
  }
  add_extents({1});  // the number of items does not belong to the schema
}

JsonColumn::Kind JsonColumn::kind_of(const Value& value) const {
  if (value.is_string()) return Kind::kText;
  if (value.is_boolean()) return Kind::kBool;
  if (!value.is_number()) refuse("has the wrong type", "a number, text, or a list", shown(value));
  if (value.is_number_float()) {
    if (std::abs(value.get<double>()) <= std::numeric_limits<float>::max()) return Kind::kFloat;
    refuse("has a number that float32 cannot hold", "", shown(value));
  }
  if (value.is_number_unsigned() &&
      value.get<uint64_t>() > uint64_t{std::numeric_limits<int64_t>::max()}) {
    refuse("has an integer that int64 cannot hold", "", shown(value));
  }
  return Kind::kInteger;
}

void JsonColumn::add_element(const Value& value) {
  const Kind kind = kind_of(value);
  add_kind(kind);
  if (kind == Kind::kInteger) {
    largest_integer_ = std::max(largest_integer_, std::abs(value.get<double>()));
  }
}

void JsonColumn::add_kind(Kind kind) {
  const bool numbers = (kind_ == Kind::kInteger || kind_ == Kind::kFloat) &&
                       (kind == Kind::kInteger || kind == Kind::kFloat);
  if (kind_ == Kind::kOpen || (numbers && kind == Kind::kFloat)) kind_ = kind;
  if (kind_ == kind || numbers) return;
  constexpr std::array<const char*, 5> kNames{"", "text", "bool", "numbers", "numbers"};
  refuse("has values of several types", kNames[static_cast<size_t>(kind_)],
         kNames[static_cast<size_t>(kind)]);
}

// Returns: the list's extents; beyond an extent of 0, nothing is known.
std::vector<int64_t> JsonColumn::add_numbers(const Value& list, size_t level) {
  if (level > kMostExtents) {
    refuse("has too many dimensions", fmt::format("at most {}", kMostExtents), "");
  }
  std::vector<int64_t> inner;
  for (size_t i = 0; i < list.size(); ++i) {
    const Value& item = list[i];
    std::vector<int64_t> extents;
    if (item.is_array()) {
      extents = add_numbers(item, level + 1);
    } else if (item.is_string()) {
      refuse("has a list of several types", "numbers only", shown(item));
    } else {
      add_element(item);
    }
    if (i > 0 && extents != inner) {
      refuse("has nested lists of unequal lengths", fmt::format("[{}]", fmt::join(inner, ", ")),
             fmt::format("[{}]", fmt::join(extents, ", ")));
    }
    inner = std::move(extents);
  }
  inner.insert(inner.begin(), static_cast<int64_t>(list.size()));
  return inner;
}

void JsonColumn::add_extents(const std::vector<int64_t>& extents) {
  const bool is_whole = std::ranges::count(extents, 0) == 0;
  if (values_ == 0) extents_ = extents;
  const bool fits = extents.size() == extents_.size() ||
                    (extents.size() > extents_.size() ? !is_whole_ && !extents_.empty()
                                                      : !is_whole && !extents.empty());
  if (!fits) {
    refuse("has values of different dimensions", fmt::format("{}", extents_.size()),
           fmt::format("{}", extents.size()));
  }
  for (size_t i = 0; i < std::min(extents.size(), extents_.size()); ++i) {
    if (extents_[i] != extents[i]) extents_[i] = -1;
  }
  for (size_t i = extents_.size(); i < extents.size(); ++i) extents_.push_back(extents[i]);
  ++values_;
  is_whole_ |= is_whole;
}

void JsonColumn::add_text(const std::string& text) {
  ++(files::has_image_extension(text) ? images_ : texts_);
}

FieldSpec JsonColumn::field() const {
  FieldSpec field{.name = name_};
  if (kind_ == Kind::kOpen) {
    refuse("has only empty lists, so its type is open", "", "");
  } else if (kind_ == Kind::kText) {
    const bool images = texts_ == 0 && images_ > 0;
    field.kind = images ? FieldKind::kImage : FieldKind::kText;
    field.role = images ? Role::kImage : Role::kNone;
    field.flags = extents_.empty() ? 0 : kListField;
    return field;
  }
  if (kind_ == Kind::kFloat && largest_integer_ > kLargestExact) {
    refuse("has an integer that float32 cannot hold exactly, and fractions",
           fmt::format("at most {}", kLargestExact), fmt::to_string(largest_integer_));
  }
  field.kind = FieldKind::kTensor;
  field.dtype = kind_ == Kind::kBool    ? DType::kBool
                : kind_ == Kind::kFloat ? DType::kFloat32
                                        : DType::kInt64;
  field.shape = extents_;
  return field;
}

std::string JsonColumn::mixed_texts() const {
  if (images_ == 0 || texts_ == 0) return {};
  return fmt::format("`{}` is text: {} of its {} values have the extension of an image", name_,
                     images_, images_ + texts_);
}

void JsonColumn::refuse(const std::string& failure, const std::string& expected,
                        const std::string& found) const {
  throw CorruptError(fmt::format("`{}` {}", name_, failure),
                     {.expected = expected, .found = found});
}

}  // namespace fuelrail::pack
