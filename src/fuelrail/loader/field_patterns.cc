#include "fuelrail/loader/field_patterns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <set>

#include "fuelrail/base/error.h"

namespace fuelrail {
namespace {

constexpr std::string_view kSize = ".size";
constexpr std::string_view kAffine = ".affine";
constexpr std::string_view kOwn = "loader:";
constexpr size_t kShownNames = 20;  // in an error

bool has_size(const FieldSpec& field) {
  return field.kind == FieldKind::kImage && !field.has(kListField);
}

bool is_in_group(std::string_view name, std::string_view group) {
  return name.size() > group.size() && name.starts_with(group) && name[group.size()] == '.';
}

bool is_pattern(std::string_view item) { return item.find('*') != std::string_view::npos; }

// The columns of the dataset that an item of `fields` selects.
std::vector<std::string> columns_of(const Schema& schema, std::string_view item) {
  std::vector<std::string> columns;
  for (const FieldSpec& field : schema.fields) {
    if (matches(item, field.name) || is_in_group(field.name, item)) columns.push_back(field.name);
    if (!has_size(field)) continue;
    for (const std::string_view suffix : {kSize, kAffine}) {
      if (!item.ends_with(suffix) || (suffix == kAffine && !field.leads())) continue;
      std::string column = field.name + std::string(suffix);
      if (matches(item, column)) columns.push_back(std::move(column));
    }
  }
  return columns;
}

// All names that an item may have: those of the loader's own columns, fields and groups.
std::vector<std::string> known_names(const Schema& schema, std::span<const std::string> own) {
  std::vector<std::string> names;
  std::set<std::string> groups;
  for (const FieldSpec& field : schema.fields) {
    names.push_back(field.name);
    for (size_t dot = field.name.find('.'); dot != std::string::npos;
         dot = field.name.find('.', dot + 1)) {
      groups.insert(field.name.substr(0, dot));
    }
  }
  names.insert(names.end(), groups.begin(), groups.end());
  names.insert(names.end(), own.begin(), own.end());
  return names;
}

[[noreturn]] void matches_nothing(const std::string& option, const std::string& pattern,
                                  const std::vector<std::string>& names) {
  throw InvalidArgumentError(
      fmt::format("a pattern of `{}` matches no field", option),
      {.found = fmt::format("'{}'", pattern), .remedy = suggest(pattern, names)});
}

}  // namespace

// Remembers the last `*`: if the rest does not match, the `*` stands for one more character.
bool matches(std::string_view pattern, std::string_view name) {
  size_t at = 0;    // in the pattern
  size_t next = 0;  // in the name
  size_t star = std::string_view::npos;
  size_t after_star = 0;  // in the name
  while (next < name.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      after_star = next;
    } else if (at < pattern.size() && pattern[at] == name[next]) {
      ++at;
      ++next;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      next = ++after_star;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

std::string_view own_column(std::string_view column) {
  return column.starts_with(kOwn) ? column.substr(kOwn.size()) : column;
}

std::string size_column(std::string_view image) { return std::string(image).append(kSize); }
std::string affine_column(std::string_view image) { return std::string(image).append(kAffine); }

std::vector<std::string> select_columns(const Schema& schema, std::span<const std::string> fields,
                                        std::span<const std::string> own) {
  if (fields.empty()) {
    std::vector<std::string> names = known_names(schema, own);
    if (names.size() > kShownNames) names.resize(kShownNames), names.emplace_back("...");
    throw InvalidArgumentError(
        "`fields` is empty",
        {.remedy = fmt::format("Name at least one of: {}", fmt::join(names, ", "))});
  }
  std::vector<std::string> selected;
  for (const std::string& item : fields) {
    std::vector<std::string> columns = columns_of(schema, item);
    if (columns.empty() && std::find(own.begin(), own.end(), own_column(item)) != own.end()) {
      columns.push_back(item);
    }
    if (columns.empty()) {
      const std::vector<std::string> names = known_names(schema, own);
      if (is_pattern(item)) matches_nothing("fields", item, names);
      throw InvalidArgumentError("`fields` contains an unknown name",
                                 {.found = "'" + item + "'", .remedy = suggest(item, names)});
    }
    for (std::string& column : columns) {
      if (std::find(selected.begin(), selected.end(), column) != selected.end()) {
        throw InvalidArgumentError(
            fmt::format("`fields` selects '{}' twice", column),
            {.found = fmt::format("'{}' after another item", item),
             .remedy = "Use names and patterns that select each field once"});
      }
      selected.push_back(std::move(column));
    }
  }
  return selected;
}

void check_patterns(const std::string& option, std::span<const std::string> patterns,
                    const Schema& schema, const std::function<bool(const FieldSpec&)>& fits,
                    const std::string& kind) {
  std::vector<std::string> names;
  for (const FieldSpec& field : schema.fields) names.push_back(field.name);
  for (const std::string& pattern : patterns) {
    const auto matched = [&](const FieldSpec& field) { return matches(pattern, field.name); };
    const auto first = std::find_if(schema.fields.begin(), schema.fields.end(), matched);
    if (first == schema.fields.end()) matches_nothing(option, pattern, names);
    if (std::any_of(first, schema.fields.end(),
                    [&](const FieldSpec& field) { return matched(field) && fits(field); })) {
      continue;
    }
    throw InvalidArgumentError(
        fmt::format("a pattern of `{}` matches no {}", option, kind),
        {.found =
             fmt::format("'{}', which matches '{}' ({})", pattern, first->name, describe(*first)),
         .remedy = first->of ? fmt::format("'{}' moves with its image '{}'", first->name,
                                           schema.fields[*first->of].name)
                             : ""});
  }
  for (const std::string& name : names) {
    const auto matched = [&](const std::string& pattern) { return matches(pattern, name); };
    const auto first = std::find_if(patterns.begin(), patterns.end(), matched);
    if (first == patterns.end()) continue;
    const auto second = std::find_if(first + 1, patterns.end(), matched);
    if (second == patterns.end()) continue;
    throw InvalidArgumentError(
        fmt::format("two patterns of `{}` match the field '{}'", option, name),
        {.found = fmt::format("'{}' and '{}'", *first, *second),
         .remedy = "Use patterns of which at most one matches each field, and '*' for the others"});
  }
}

}  // namespace fuelrail
