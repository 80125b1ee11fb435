#include "fuelrail/container/field_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "fuelrail/base/error.h"

namespace fuelrail {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// Without leading zeros, so that each element of a list has one name.
bool is_number(std::string_view part) {
  return !part.empty() && std::ranges::all_of(part, is_digit) && (part == "0" || part[0] != '0');
}

bool is_word(std::string_view part) {
  return !part.empty() && is_letter(part[0]) &&
         std::ranges::all_of(part, [](char c) { return is_letter(c) || is_digit(c) || c == '-'; });
}

void check_name(const std::string& name, size_t number) {
  if (name.empty() || name.size() > kMaxFieldNameBytes) {
    throw InvalidArgumentError(fmt::format("the name of field {} has an invalid length", number),
                               {.expected = fmt::format("1 to {} bytes", kMaxFieldNameBytes),
                                .found = fmt::format("{}", name.size())});
  }
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('.', begin), name.size());
    const std::string_view part = std::string_view(name).substr(begin, end - begin);
    if (!is_number(part) && !is_word(part)) {
      throw InvalidArgumentError(
          fmt::format("the field name '{}' is invalid", name),
          {.expected = "words of letters, digits, '_' and '-' that begin with a letter or '_', or "
                       "numbers without leading zeros, joined by dots",
           .found = fmt::format("the part '{}'", part)});
    }
    begin = end + 1;
  }
}

// The fields as a tree: a dict for each group whose parts are words, a list for each whose parts
// are numbers.
class FieldTree {
 public:
  void add(std::string_view name) {
    if (!names_.insert(name).second) {
      throw InvalidArgumentError(fmt::format("two fields have the name '{}'", name));
    }
    for (size_t begin = 0, end = 0; end < name.size(); begin = end + 1) {
      end = std::min(name.find('.', begin), name.size());
      parts_of_[name.substr(0, begin == 0 ? 0 : begin - 1)].insert(name.substr(begin, end - begin));
    }
  }

  void check() const {
    for (const auto& [group, parts] : parts_of_) {
      if (names_.contains(group)) {
        throw InvalidArgumentError(fmt::format("'{}' is both a field and a group", group),
                                   {.found = fmt::format("'{}.{}'", group, *parts.begin())});
      }
      const auto numbers = std::ranges::count_if(parts, is_number);
      if (numbers == 0) continue;
      if (static_cast<size_t>(numbers) < parts.size()) {
        throw InvalidArgumentError(fmt::format("group '{}' is both a list and a dict", group),
                                   {.found = fmt::format("the parts {}", fmt::join(parts, ", "))});
      }
      check_list(group, parts);
    }
  }

 private:
  static void check_list(std::string_view group, const std::set<std::string_view>& parts) {
    for (size_t i = 0; i < parts.size(); ++i) {
      if (parts.contains(fmt::to_string(i))) continue;
      throw InvalidArgumentError(fmt::format("list '{}' has a gap", group),
                                 {.expected = fmt::format("the numbers 0 to {}", parts.size() - 1),
                                  .found = fmt::format("no number {}", i)});
    }
  }

  std::set<std::string_view> names_;
  std::map<std::string_view, std::set<std::string_view>> parts_of_;  // by group; "" is the root
};

bool is_floating(DType dtype) { return dtype == DType::kFloat32 || dtype == DType::kFloat64; }

bool fits_camera(const std::vector<int64_t>& shape) {
  return shape == std::vector<int64_t>{3, 3} || shape == std::vector<int64_t>{3, 4} ||
         shape == std::vector<int64_t>{4, 4};
}

// What a field with this role must be; empty if the field is that.
std::string_view needed_for_role(const FieldSpec& field) {
  const bool image = field.kind == FieldKind::kImage;
  const bool tensor = field.kind == FieldKind::kTensor;
  const std::vector<int64_t>& shape = field.shape;
  switch (field.role) {
    case Role::kNone:
      return image ? "the role image, mask or map for an encoded image" : "";
    case Role::kImage:
    case Role::kMask:
      return image ? "" : "an encoded image";
    case Role::kMap:
      if (image || (tensor && (shape.size() == 2 || shape.size() == 3))) return "";
      return "an encoded image, or a tensor with two or three dimensions";
    case Role::kBoxes:
      if (tensor && is_floating(field.dtype) && shape == std::vector<int64_t>{-1, 4}) return "";
      return "a tensor float32 or float64 [-1, 4]";
    case Role::kPoints:
      if (tensor && is_floating(field.dtype) && !shape.empty() &&
          (shape.back() == 2 || shape.back() == 3)) {
        return "";
      }
      return "a tensor float32 or float64 whose last extent is 2 or 3";
    case Role::kCamera:
      if (tensor && is_floating(field.dtype) && fits_camera(shape)) return "";
      return "a tensor float32 or float64 [3, 3], [3, 4] or [4, 4]";
    case Role::kLabel:
      return tensor && field.dtype == DType::kInt64 ? "" : "a tensor int64";
  }
  return "a known role";
}

// The flags that a field of this kind and role may have.
uint8_t allowed_flags(const FieldSpec& field) {
  const auto either = [](int a, int b = 0) { return static_cast<uint8_t>(a | b); };
  const uint8_t list = field.kind == FieldKind::kTensor ? uint8_t{0} : uint8_t{kListField};
  switch (field.role) {
    case Role::kImage:
      return either(list, field.of ? kNoColors : 0);
    case Role::kMask:
      return either(list, kRgbMask);
    case Role::kMap:
      return either(list, kNoVectors);
    case Role::kBoxes:
    case Role::kPoints:
      return either(kRelative, kPixelCenters);
    case Role::kCamera:
      return kPixelCenters;
    case Role::kNone:
    case Role::kLabel:
      break;
  }
  return list;
}

uint16_t greatest_detail(Role role) {
  if (role == Role::kBoxes) return static_cast<uint16_t>(BoxFormat::kCxcywh);
  return role == Role::kMask || role == Role::kMap ? std::numeric_limits<uint16_t>::max() : 0;
}

void check_kind(const FieldSpec& field) {
  const auto known = [](auto value, size_t count) { return static_cast<size_t>(value) < count; };
  if (known(field.kind, kFieldKinds) && known(field.dtype, kDTypes) && known(field.role, kRoles) &&
      (field.flags & ~kAllFieldFlags) == 0) {
    return;
  }
  throw InvalidArgumentError(
      fmt::format("field '{}' has an unknown kind, dtype, role or flag", field.name));
}

void check_shape(const FieldSpec& field) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const auto wrong = [&](std::string_view expected) {
    throw InvalidArgumentError(fmt::format("field '{}' has an invalid shape", field.name),
                               {.expected = std::string(expected),
                                .found = fmt::format("[{}]", fmt::join(field.shape, ", "))});
  };
  if (field.kind != FieldKind::kTensor) {
    if (!field.shape.empty()) wrong("no shape, because the field is not a tensor");
    if (field.dtype == FieldSpec().dtype) return;
    throw InvalidArgumentError(
        fmt::format("field '{}' has a dtype, but is not a tensor", field.name),
        {.found = name_of(field.dtype)});
  }
  if (field.shape.size() > kMaxDimensions) wrong("at most 8 dimensions");
  const auto valid = [](int64_t extent) { return extent >= -1 && extent <= kMost; };
  if (!std::ranges::all_of(field.shape, valid)) wrong("extents of at least 0, or -1 for any");
  if (!bounded_bytes(field.shape, field.dtype)) wrong("at most 2 GiB in a value");
}

void check_role(const FieldSpec& field) {
  if (const std::string_view needed = needed_for_role(field); !needed.empty()) {
    throw InvalidArgumentError(fmt::format("field '{}' does not fit its role", field.name),
                               {.expected = std::string(needed), .found = describe(field)});
  }
  if ((field.flags & ~allowed_flags(field)) != 0) {
    throw InvalidArgumentError(
        fmt::format("field '{}' has a flag that its kind or role does not have", field.name),
        {.expected = fmt::format("a part of the flags {}", allowed_flags(field)),
         .found = fmt::format("{}", field.flags)});
  }
  if (field.detail > greatest_detail(field.role)) {
    throw InvalidArgumentError(fmt::format("the detail of field '{}' is out of range", field.name),
                               {.expected = fmt::format("0 to {}", greatest_detail(field.role)),
                                .found = fmt::format("{}", field.detail)});
  }
}

bool refers_to_image(Role role) {
  return role != Role::kNone && role != Role::kLabel && role != Role::kImage;
}

std::string listed_leaders(const Schema& schema) {
  std::string names;
  size_t more = 0;
  for (const FieldSpec& field : schema.fields) {
    if (!field.leads()) continue;
    if (names.size() > 200) {
      ++more;
    } else {
      names += (names.empty() ? "" : ", ") + field.name;
    }
  }
  if (more > 0) names += fmt::format(" and {} more", more);
  return names.empty() ? "Add an image field" : "Set `of` to one of the images: " + names;
}

void check_image_of(const Schema& schema, const FieldSpec& field) {
  if (!field.of) {
    if (!refers_to_image(field.role)) return;
    throw InvalidArgumentError(
        fmt::format("field '{}' refers to no image", field.name),
        {.expected = fmt::format("`of`, the image of the {}", name_of(field.role)),
         .remedy = listed_leaders(schema)});
  }
  if (!refers_to_image(field.role) && field.role != Role::kImage) {
    throw InvalidArgumentError(
        fmt::format("field '{}' cannot refer to an image", field.name),
        {.remedy = "Omit `of`, or give the field a role such as boxes or points"});
  }
  const bool exists = *field.of < schema.fields.size();
  if (exists && schema.fields[*field.of].leads()) return;
  throw InvalidArgumentError(
      fmt::format("field '{}' refers to a field that is not an image of its own", field.name),
      {.found = exists ? fmt::format("'{}'", schema.fields[*field.of].name)
                       : fmt::format("field {} of {}", *field.of, schema.fields.size()),
       .remedy = listed_leaders(schema)});
}

void check_rows(const Schema& schema, size_t number) {
  const FieldSpec& field = schema.fields[number];
  if (!field.rows) return;
  if (field.kind != FieldKind::kTensor || field.shape.empty() || field.shape[0] != -1) {
    throw InvalidArgumentError(
        fmt::format("field '{}' cannot have a row for each object", field.name),
        {.expected = "a tensor whose first extent is -1", .found = describe(field)});
  }
  if (*field.rows <= number && schema.fields[*field.rows].rows == field.rows) return;
  throw InvalidArgumentError(
      fmt::format("the `rows` of field '{}' is not the first field of a group of rows", field.name),
      {.expected = "a field with the same `rows`, at or before this field",
       .found = fmt::format("field {}", *field.rows)});
}

}  // namespace

std::optional<int64_t> bounded_bytes(const std::vector<int64_t>& shape, DType dtype) {
  auto bytes = static_cast<int64_t>(size_in_bytes(dtype));
  for (const int64_t extent : shape) {
    const int64_t factor = std::max<int64_t>(extent, 1);
    if (factor > kMaxValueBytes / bytes) return std::nullopt;
    bytes *= factor;
  }
  return bytes;
}

void check_fields(const Schema& schema) {
  const std::vector<FieldSpec>& fields = schema.fields;
  if (fields.empty() || fields.size() > kMaxFields) {
    throw InvalidArgumentError("the number of fields is out of range",
                               {.expected = fmt::format("1 to {}", kMaxFields),
                                .found = fmt::format("{}", fields.size())});
  }
  FieldTree tree;
  for (size_t number = 0; number < fields.size(); ++number) {
    check_name(fields[number].name, number);
    tree.add(fields[number].name);
    check_kind(fields[number]);
    check_shape(fields[number]);
    check_role(fields[number]);
    check_image_of(schema, fields[number]);
    check_rows(schema, number);
  }
  tree.check();
}

}  // namespace fuelrail
