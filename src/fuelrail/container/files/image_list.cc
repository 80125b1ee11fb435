#include "fuelrail/container/files/image_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <system_error>
#include <utility>

#include "fuelrail/container/class_names.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail {
namespace {

constexpr uint64_t kMostClasses = uint64_t{1} << 24;  // float32 holds all whole numbers below it

bool is_absolute(std::string_view path) {
  return path.starts_with('/') || path.find("://") != std::string_view::npos;
}

constexpr size_t kMostListed = 10;  // in an error or a warning

// Parses a decimal number. Returns: empty for text that is not a number; infinity for a number that
// is too large.
std::optional<double> number_of(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) return std::nullopt;
  return error == std::errc{} ? number : std::numeric_limits<double>::infinity();
}

float label_of(std::string_view text, const ListedLine& line, const std::string& uri) {
  const std::optional<double> label = number_of(text);
  if (!label || !std::isfinite(*label)) {
    refuse_line(uri, line.line, "the label is not a number",
                {.expected = "a finite number", .found = fmt::format("'{}'", text)});
  }
  const auto stored = static_cast<float>(*label);
  if (!std::isfinite(stored) || (*label == std::trunc(*label) && double{stored} != *label)) {
    refuse_line(uri, line.line,
                "the label does not fit into float32, the type in which labels are stored",
                {.found = std::string(text), .remedy = "Number the classes from 0"});
  }
  return stored;
}

void check_width(const ListedLine& line, const std::string& uri, const ListRules& rules) {
  if (!rules.label_width || line.labels.size() == *rules.label_width) return;
  refuse_line(uri, line.line, "the number of labels is wrong",
              {.expected = fmt::to_string(*rules.label_width),
               .found = fmt::to_string(line.labels.size())});
}

// Passes each line to `take` until that returns false, and each line's error to `wrong`.
void read_lines(ListReader& reader, const std::string& uri, const KeepGoing& keep_going,
                const std::function<bool(const ListedLine&)>& take,
                const std::function<void(const CorruptError&)>& wrong) {
  constexpr uint64_t kAskEveryLines = 1024;
  ListedLine line;
  for (uint64_t lines = 0;; ++lines) {
    if (lines % kAskEveryLines == 0) check_keep_going(keep_going, uri);
    try {
      if (!reader.next(line) || !take(line)) return;
    } catch (const CorruptError& error) {
      wrong(error);
    }
  }
}

// The first line with a class name, if labels are names. If a line has several labels, all labels
// are numbers. If no classes are given, the first line decides.
std::optional<uint64_t> first_named_line(std::string_view text, const std::string& uri,
                                         const ListRules& rules) {
  const ClassLabels table(rules.classes);
  std::optional<uint64_t> found;
  const auto look = [&](const ListedLine& line) {
    check_width(line, uri, rules);
    if (line.labels.size() > 1) {
      found.reset();
      return false;
    }
    const std::string_view label = line.labels[0];
    if (!found && (!number_of(label) || table.find(label))) found = line.line;
    return found || !rules.classes.empty();
  };
  read_lines(*make_list_reader(text, uri), uri, rules.keep_going, look,
             [](const CorruptError&) {});  // reported when the lines are read again
  return found;
}

// For lists whose labels are numbers.
void refuse_word(const ListedLine& line, const std::string& uri, const ListRules& rules) {
  const std::string_view label = line.labels[0];
  if (rules.of_mxnet || !rules.classes.empty() || line.labels.size() > 1) return;
  if (number_of(label)) return;
  refuse_line(uri, line.line, "the label is a word, but the list's other labels are numbers",
              {.expected = "a finite number",
               .found = fmt::format("'{}'", label),
               .remedy = "Pass classes=... (--classes) if the labels are names"});
}

void warn_of_numbers(const ImageList& images, uint64_t line, const std::string& uri,
                     const ListRules& rules) {
  if (!rules.warn || !rules.classes.empty()) return;
  std::vector<std::string> numbers;
  for (const std::string& name : images.classes()) {
    if (number_of(name) && numbers.size() < kMostListed) numbers.push_back(name);
  }
  if (numbers.empty()) return;
  rules.warn(
      fmt::format("{}: line {} has a word as its label, so all labels are read as class names, "
                  "but some look like numbers: '{}'",
                  uri, line, fmt::join(numbers, "', '")));
}

}  // namespace

void ImageList::add(const ListedLine& line, const std::string& uri) {
  const size_t before = labels_.size();
  try {
    for (const std::string_view label : line.labels) labels_.push_back(label_of(label, line, uri));
  } catch (const CorruptError&) {
    labels_.resize(before);
    throw;
  }
  add_image(line);
}

void ImageList::add_named(const ListedLine& line, const std::string& uri) {
  const Name next{.number = names_.size(), .first_line = line.line};
  const auto name = names_.emplace(line.labels[0], next).first;
  if (names_.size() > kMostClasses) {
    names_.erase(name);
    refuse_line(uri, line.line, "there are too many classes for float32 labels",
                {.expected = fmt::format("at most {} classes", kMostClasses)});
  }
  labels_.push_back(static_cast<float>(name->second.number));
  add_image(line);
}

void ImageList::add_image(const ListedLine& line) {
  ids_.push_back(line.id);
  lines_.push_back(line.line);
  paths_ += line.path;
  path_ends_.push_back(paths_.size());
  label_ends_.push_back(labels_.size());
}

void ImageList::number_classes(const std::vector<std::string>& classes, const std::string& uri) {
  classes_ = classes;
  if (names_.empty()) {
    if (!classes_.empty()) check_numbers(uri);
    return;
  }
  std::vector<std::string_view> names(names_.size());
  for (const auto& [name, of] : names_) names[of.number] = name;
  if (classes_.empty()) {
    classes_.assign(names.begin(), names.end());
    std::sort(classes_.begin(), classes_.end());
  }
  const ClassLabels table(classes_);
  std::vector<float> labels;
  std::vector<std::string_view> unknown;
  for (const std::string_view name : names) {
    const std::optional<size_t> label = table.find(name);
    if (!label) unknown.push_back(name);
    labels.push_back(static_cast<float>(label.value_or(0)));
  }
  if (!unknown.empty()) refuse_unknown(unknown, table, uri);
  for (float& label : labels_) label = labels[static_cast<size_t>(label)];
  names_.clear();
}

void ImageList::refuse_unknown(const std::vector<std::string_view>& unknown,
                               const ClassLabels& table, const std::string& uri) const {
  const std::string first(unknown[0]);
  std::string found = fmt::format("'{}'", first);
  for (size_t i = 1; i < std::min(unknown.size(), kMostListed); ++i) {
    const std::string name(unknown[i]);
    found += fmt::format(", '{}' in line {}", name, names_.at(name).first_line);
  }
  if (unknown.size() > kMostListed) {
    found += fmt::format(" and {} more", unknown.size() - kMostListed);
  }
  refuse_line(uri, names_.at(first).first_line, "the label is not one of the classes",
              {.found = std::move(found), .remedy = table.remedy_for(first)});
}

void ImageList::check_numbers(const std::string& uri) const {
  for (uint64_t i = 0; i < size(); ++i) {
    const std::span<const float> of = labels(i);
    if (of.size() == 1 && of[0] >= 0 && of[0] < static_cast<float>(classes_.size()) &&
        of[0] == std::trunc(of[0])) {
      continue;
    }
    refuse_line(uri, line(i), "the label is not a class number",
                {.expected = fmt::format("one whole number from 0 to {}", classes_.size() - 1),
                 .found = fmt::format("{}", fmt::join(of, " "))});
  }
}

void ImageList::reserve(std::string_view text) {
  constexpr size_t kShortestLine = 6;  // "0\t1\ta\n"; empty lines need no memory
  const auto ends = static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  const size_t lines = std::min(ends, text.size() / kShortestLine) + 1;
  ids_.reserve(lines);
  lines_.reserve(lines);
  paths_.reserve(text.size());  // unused pages take no memory
  path_ends_.reserve(lines);
  labels_.reserve(lines);
  label_ends_.reserve(lines);
}

std::string_view ImageList::path(uint64_t i) const {
  const uint64_t begin = i == 0 ? 0 : path_ends_[i - 1];
  return std::string_view(paths_).substr(begin, path_ends_[i] - begin);
}

std::span<const float> ImageList::labels(uint64_t i) const {
  const uint64_t begin = i == 0 ? 0 : label_ends_[i - 1];
  return std::span(labels_).subspan(begin, label_ends_[i] - begin);
}

std::string listed_uri(std::string_view path, const std::string& root) {
  return is_absolute(path) ? std::string(path) : join_uri(root, std::string(path));
}

std::string root_of_list(const std::string& uri, const std::string& root) {
  if (!root.empty()) return root;
  const size_t slash = uri.rfind('/');
  if (slash == std::string::npos) return ".";
  const size_t scheme_end = uri.find("://");
  const bool top = slash == 0 || (scheme_end != std::string::npos && slash == scheme_end + 2);
  return uri.substr(0, top ? slash + 1 : slash);
}

std::string read_list_text(const std::string& uri) {
  const std::shared_ptr<const Source> source = file_system_for(uri).open(uri);
  std::string text(source->size_bytes(), '\0');
  source->read(0, std::as_writable_bytes(std::span(text)));
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  return text;
}

ImageList parse_image_list(std::string_view text, const std::string& uri, const ListRules& rules) {
  const std::optional<uint64_t> named =
      rules.of_mxnet ? std::nullopt : first_named_line(text, uri, rules);
  ImageList images;
  images.reserve(text);
  const auto take = [&](const ListedLine& line) {
    check_width(line, uri, rules);
    if (named) {
      images.add_named(line, uri);
    } else {
      refuse_word(line, uri, rules);
      images.add(line, uri);
    }
    return true;
  };
  read_lines(*make_list_reader(text, uri, rules.warn), uri, rules.keep_going, take,
             [&](const CorruptError& error) {
               if (!rules.leave_out || !rules.leave_out(error)) throw error;
             });
  images.number_classes(rules.classes, uri);
  if (named) warn_of_numbers(images, *named, uri, rules);
  return images;
}

std::string repeated_ids(const ImageList& images) {
  std::vector<std::pair<uint64_t, uint64_t>> ids_and_lines;
  ids_and_lines.reserve(images.size());
  for (uint64_t i = 0; i < images.size(); ++i) {
    ids_and_lines.emplace_back(images.id(i), images.line(i));
  }
  std::sort(ids_and_lines.begin(), ids_and_lines.end());
  uint64_t count = 0;
  std::pair<uint64_t, uint64_t> first;
  for (size_t i = 1; i < ids_and_lines.size(); ++i) {
    if (ids_and_lines[i].first != ids_and_lines[i - 1].first) continue;
    if (count++ == 0 || ids_and_lines[i].second < first.second) first = ids_and_lines[i];
  }
  if (count == 0) return {};
  return fmt::format("{} line{} an id of an earlier line: first line {}, id {}", count,
                     count == 1 ? " repeats" : "s repeat", first.second, first.first);
}

ImageList read_image_list(const std::string& uri, const ListRules& rules) {
  return parse_image_list(read_list_text(uri), uri, rules);
}

}  // namespace fuelrail
