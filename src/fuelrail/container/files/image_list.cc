#include "fuelrail/container/files/image_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/container/class_names.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail {
namespace {

constexpr uint64_t kMostClasses = uint64_t{1} << 24;  // float32 holds all numbers up to this one

bool is_absolute(std::string_view path) {
  return path.starts_with('/') || path.find("://") != std::string_view::npos;
}

void check_rules(const ListedLine& line, const std::string& uri, const ListRules& rules) {
  if (rules.of_mxnet && !line.word.empty()) {
    refuse_line(uri, line.line, "the label is not a number",
                {.expected = "a finite number", .found = fmt::format("'{}'", line.word)});
  }
  if (!rules.label_width || line.labels.size() == *rules.label_width) return;
  refuse_line(uri, line.line, "another number of labels",
              {.expected = fmt::to_string(*rules.label_width),
               .found = fmt::to_string(line.labels.size())});
}

// Words in the order of their numbers.
std::vector<std::string_view> by_number(const auto& words) {
  std::vector<std::string_view> names(words.size());
  for (const auto& [name, word] : words) names[word.number] = name;
  return names;
}

}  // namespace

void ImageList::add(const ListedLine& line, const std::string& uri) {
  const bool is_word = !line.word.empty();
  if (size() > 0 && is_word == words_.empty()) {
    refuse_line(uri, line.line, "labels are words in one line and numbers in another",
                {.expected = is_word ? "a number, as in the lines before"
                                     : "a word, as in the lines before",
                 .found = is_word ? fmt::format("'{}'", line.word)
                                  : fmt::format("{}", fmt::join(line.labels, " ")),
                 .remedy = "Write all labels as words, or all as numbers"});
  }
  if (is_word) {
    if (words_.size() > kMostClasses) {
      refuse_line(uri, line.line, "float32, which RecordIO stores, cannot hold the label",
                  {.expected = fmt::format("at most {} classes", kMostClasses)});
    }
    const Word word{.number = words_.size(), .first_line = line.line};
    labels_.push_back(static_cast<float>(words_.emplace(line.word, word).first->second.number));
  } else {
    labels_.insert(labels_.end(), line.labels.begin(), line.labels.end());
  }
  ids_.push_back(line.id);
  lines_.push_back(line.line);
  paths_ += line.path;
  path_ends_.push_back(paths_.size());
  label_ends_.push_back(labels_.size());
}

void ImageList::number_classes(const std::vector<std::string>& classes, const std::string& uri) {
  classes_ = classes;
  if (words_.empty()) {
    if (!classes_.empty()) check_numbers(uri);
    return;
  }
  const std::vector<std::string_view> words = by_number(words_);
  if (classes_.empty()) {
    classes_.assign(words.begin(), words.end());
    std::sort(classes_.begin(), classes_.end());
  }
  const ClassLabels table(classes_);
  std::vector<float> labels;
  for (const std::string_view word : words) {
    const std::string name(word);
    const std::optional<size_t> label = table.find(name);
    if (!label) {
      refuse_line(uri, words_.at(name).first_line, "the label is not one of the classes",
                  {.expected = fmt::format("one of {} names", classes_.size()),
                   .found = fmt::format("'{}'", name),
                   .remedy = table.remedy_for(name)});
    }
    labels.push_back(static_cast<float>(*label));
  }
  for (float& label : labels_) label = labels[static_cast<size_t>(label)];
  words_.clear();
}

void ImageList::check_numbers(const std::string& uri) const {
  for (uint64_t i = 0; i < size(); ++i) {
    const std::span<const float> of = labels(i);
    if (of.size() == 1 && of[0] >= 0 && of[0] < static_cast<float>(classes_.size()) &&
        of[0] == std::trunc(of[0])) {
      continue;
    }
    refuse_line(uri, line(i), "the label is not the number of a class",
                {.expected = fmt::format("one whole number from 0 to {}", classes_.size() - 1),
                 .found = fmt::format("{}", fmt::join(of, " "))});
  }
}

void ImageList::reserve(std::string_view text) {
  constexpr size_t kShortestLine = 6;  // "0\t1\ta\n": empty ones take nothing
  const auto ends = static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  const size_t lines = std::min(ends, text.size() / kShortestLine) + 1;
  ids_.reserve(lines);
  lines_.reserve(lines);
  paths_.reserve(text.size());  // what is not written to is not taken
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
  constexpr uint64_t kAskEveryLines = 1024;
  const std::unique_ptr<ListReader> reader = make_list_reader(text, uri, rules.warn);
  ImageList images;
  images.reserve(text);
  ListedLine line;
  for (uint64_t lines = 0;; ++lines) {
    if (lines % kAskEveryLines == 0 && rules.keep_going && !rules.keep_going()) {
      throw StateError("interrupted", {.path = uri});
    }
    try {
      if (!reader->next(line)) break;
      check_rules(line, uri, rules);
      images.add(line, uri);
    } catch (const CorruptError& error) {
      if (!rules.leave_out || !rules.leave_out(error)) throw;
    }
  }
  images.number_classes(rules.classes, uri);
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
  return fmt::format("{} line{} an id that an earlier line has: first line {}, id {}", count,
                     count == 1 ? " has" : "s have", first.second, first.first);
}

ImageList read_image_list(const std::string& uri, const ListRules& rules) {
  return parse_image_list(read_list_text(uri), uri, rules);
}

}  // namespace fuelrail
