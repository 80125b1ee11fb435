#include "fuelrail/container/files/image_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/base/parse_number.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail {
namespace {

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \r") - begin + 1);
}

std::vector<std::string_view> columns_of(std::string_view line) {
  std::vector<std::string_view> columns;
  for (size_t begin = 0;;) {
    const size_t end = line.find('\t', begin);
    columns.push_back(trimmed(line.substr(begin, end - begin)));
    if (end == std::string_view::npos) return columns;
    begin = end + 1;
  }
}

struct LinePlace {
  const std::string& uri;
  uint64_t number;
};

[[noreturn]] void refuse(const LinePlace& at, const std::string& failure, ErrorDetail detail = {}) {
  detail.path = at.uri;
  throw CorruptError(fmt::format("line {}: {}", at.number, failure), std::move(detail));
}

float parse_label(std::string_view text, const LinePlace& at) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const std::optional<double> label = parse_number<double>(text);
  if (!label || !std::isfinite(*label)) {
    refuse(at, "the label is not a number",
           {.expected = "a finite number", .found = fmt::format("'{}'", text)});
  }
  const float stored = static_cast<float>(*label);
  if (!std::isfinite(stored) || (*label == std::trunc(*label) && double{stored} != *label)) {
    refuse(at, "float32, which RecordIO stores, cannot hold the label",
           {.found = std::string(text), .remedy = "Number the classes from 0"});
  }
  return stored;
}

bool is_absolute(std::string_view path) {
  return path.starts_with('/') || path.find("://") != std::string_view::npos;
}

void parse_line(std::string_view line, const LinePlace& at, ListedLine& out) {
  const std::vector<std::string_view> columns = columns_of(line);
  if (columns.size() < 3) {
    refuse(at, "the line has too few columns",
           {.expected = "id TAB label [TAB label ...] TAB path",
            .found = fmt::format("{} column{}", columns.size(), columns.size() == 1 ? "" : "s")});
  }
  const std::optional<uint64_t> id = parse_number<uint64_t>(columns.front());
  if (!id) {
    refuse(at, "the id is not a number",
           {.expected = "a whole number from 0", .found = fmt::format("'{}'", columns.front())});
  }
  out.id = *id;
  out.line = at.number;
  out.labels.clear();
  for (size_t i = 1; i + 1 < columns.size(); ++i) out.labels.push_back(parse_label(columns[i], at));
  if (columns.back().empty()) refuse(at, "the path is empty");
  out.path = columns.back();
}

void check_label_width(const ListedLine& line, const std::string& uri, const ListRules& rules) {
  if (!rules.label_width || line.labels.size() == *rules.label_width) return;
  refuse({uri, line.line}, "another number of labels",
         {.expected = fmt::to_string(*rules.label_width),
          .found = fmt::to_string(line.labels.size())});
}

}  // namespace

void ImageList::add(const ListedLine& line) {
  ids_.push_back(line.id);
  lines_.push_back(line.line);
  paths_ += line.path;
  path_ends_.push_back(paths_.size());
  labels_.insert(labels_.end(), line.labels.begin(), line.labels.end());
  label_ends_.push_back(labels_.size());
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

ImageListReader::ImageListReader(std::string_view text, std::string uri)
    : rest_(text), uri_(std::move(uri)) {}

bool ImageListReader::next(ListedLine& out) {
  while (!rest_.empty()) {
    const size_t end = std::min(rest_.find('\n'), rest_.size());
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++line_;
    if (trimmed(line).empty()) continue;
    parse_line(line, {uri_, line_}, out);
    return true;
  }
  return false;
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
  ImageList images;
  images.reserve(text);
  ImageListReader reader(text, uri);
  for (ListedLine line;;) {
    try {
      if (!reader.next(line)) return images;
      check_label_width(line, uri, rules);
      images.add(line);
    } catch (const CorruptError& error) {
      if (!rules.leave_out || !rules.leave_out(error)) throw;
    }
  }
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
