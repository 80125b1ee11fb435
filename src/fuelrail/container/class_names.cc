#include "fuelrail/container/class_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "fuelrail/base/error.h"
#include "fuelrail/container/formats.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail {
namespace {

constexpr uint64_t kMostNameBytes = uint64_t{16} << 20;
constexpr const char* kTextLayout = "a text file with one class name per line";

std::string_view without_space(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

std::string read_text(const std::string& uri) {
  const std::shared_ptr<const Source> source = file_system_for(uri).open(uri);
  if (source->size_bytes() > kMostNameBytes) {
    throw CorruptError("the class-name file is too long",
                       {.path = uri,
                        .expected = fmt::format("at most {} bytes", kMostNameBytes),
                        .found = fmt::to_string(source->size_bytes())});
  }
  std::string text(source->size_bytes(), '\0');
  source->read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

// Describes the table's entry for this label.
std::string said_of(std::span<const std::string> names, size_t label) {
  if (names.empty()) return "no class names";
  if (label < names.size()) return fmt::format("'{}' as class {}", names[label], label);
  return fmt::format("no class {} (the last class is {})", label, names.size() - 1);
}

}  // namespace

const std::vector<std::string>& only_class_names(const Container& container) {
  if (!container.classes().empty()) return container.classes();
  const std::vector<std::string>* known = &container.classes();
  std::string field;
  for (const FieldSpec& other : container.schema().fields) {
    const std::vector<std::string>& names = container.classes_of(other.name);
    if (names.empty()) continue;
    const auto difference = first_difference(*known, names);
    if (known->empty()) {
      known = &names;
      field = other.name;
    } else if (difference) {
      throw InvalidArgumentError(
          fmt::format("the fields '{}' and '{}' have different class names, so there is no "
                      "choosing between them",
                      field, other.name),
          {.expected = difference->expected,
           .found = difference->found,
           .remedy = "Give the names of one field: as a list, "
                     "fuelrail.open(path).schema[field].classes, or in a text file with one class "
                     "name per line"});
    }
  }
  return *known;
}

std::vector<std::string> read_class_names(const std::string& uri, const OpenOptions& options) {
  const std::optional<FileInfo> info = file_system_for(uri).stat(uri);
  const bool opens = info && (info->is_directory || find_format(uri) != nullptr);
  std::vector<std::string> names;
  if (opens) {
    const std::shared_ptr<const Container> container = open_container(uri, options);
    try {
      names = only_class_names(*container);
    } catch (Error& error) {
      error.add({.path = uri});
      throw;
    }
  } else {
    names = parse_class_names(read_text(uri), uri);
  }
  if (!names.empty()) return names;
  throw InvalidArgumentError(
      "the file has no class names",
      {.path = uri,
       .expected = fmt::format("a dataset with class names, or {}", kTextLayout),
       .remedy = "Write the class names into a text file, and pass that file"});
}

std::vector<std::string> parse_class_names(std::string_view text, const std::string& uri) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (text.find('\0') != std::string_view::npos) {
    throw CorruptError("the class-name file is not a text file",
                       {.path = uri, .expected = kTextLayout, .found = "a zero byte"});
  }
  text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  std::vector<std::string> names;
  std::unordered_map<std::string_view, size_t> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view name = without_space(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t line = names.size() + 1;
    if (name.empty()) {
      throw CorruptError(fmt::format("line {} is empty, so class {} has no name", line, line - 1),
                         {.path = uri, .expected = kTextLayout, .remedy = "Remove the line"});
    }
    if (const auto [first, is_new] = lines.emplace(name, line); !is_new) {
      throw CorruptError(
          fmt::format("line {} repeats the class name on line {}", line, first->second),
          {.path = uri,
           .found = fmt::format("'{}'", name),
           .remedy = "Remove one of the two lines"});
    }
    names.emplace_back(name);
  }
  return names;
}

void check_class_names(std::span<const std::string> names) {
  std::unordered_map<std::string_view, size_t> labels;
  for (const std::string& name : names) {
    const auto [first, is_new] = labels.emplace(name, labels.size());
    if (name.empty()) {
      throw InvalidArgumentError("the name of a class is empty",
                                 {.expected = fmt::format("a name for class {}", labels.size() - 1),
                                  .found = "an empty name"});
    }
    if (is_new) continue;
    throw InvalidArgumentError(
        "two classes have the same name",
        {.expected = "a different name for each class",
         .found = fmt::format("'{}' as class {} and {}", name, first->second, labels.size())});
  }
}

std::optional<ClassDifference> first_difference(std::span<const std::string> expected,
                                                std::span<const std::string> found) {
  if (std::ranges::equal(expected, found)) return std::nullopt;
  const auto at = std::ranges::mismatch(expected, found).in1 - expected.begin();
  const auto label = static_cast<size_t>(at);
  return ClassDifference{said_of(expected, label), said_of(found, label)};
}

void check_same_classes(std::span<const std::string> names, const Container& container,
                        const std::string& failure, const std::string& path) {
  const std::optional<ClassDifference> difference =
      first_difference(names, only_class_names(container));
  if (!difference) return;
  throw InvalidArgumentError(failure,
                             {.path = path,
                              .expected = difference->expected,
                              .found = difference->found,
                              .remedy = "Pack the file again, or open the folder, with the "
                                        "expected classes (--classes, in Python `classes`)"});
}

ClassLabels::ClassLabels(std::span<const std::string> names) : names_(names) {
  labels_.reserve(names.size());
  for (size_t label = 0; label < names.size(); ++label) labels_.emplace(names[label], label);
}

std::optional<size_t> ClassLabels::find(std::string_view name) const {
  const auto found = labels_.find(name);
  if (found == labels_.end()) return std::nullopt;
  return found->second;
}

std::string ClassLabels::remedy_for(const std::string& name) const {
  constexpr size_t kMostCompared = 10'000;
  constexpr std::string_view kNear = "Did you mean";
  const std::span<const std::string> some = names_.first(std::min(names_.size(), kMostCompared));
  const std::string near = suggest(name, {some.begin(), some.end()});
  return near.starts_with(kNear) ? near : "Add the name to the classes, or remove it from the data";
}

}  // namespace fuelrail
