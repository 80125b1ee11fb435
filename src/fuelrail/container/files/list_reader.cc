#include "fuelrail/container/files/list_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "fuelrail/base/parse_number.h"
#include "fuelrail/container/files/csv_rows.h"
#include "fuelrail/container/name_end.h"

namespace fuelrail {
namespace {

constexpr std::string_view kLineEnd = ".lst";
constexpr std::string_view kCommaEnd = ".csv";
constexpr std::string_view kTabEnd = ".tsv";

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

void take_label(std::string_view text, const LinePlace& at, ListedLine& out) {
  if (text.empty()) refuse_line(at.uri, at.number, "the label is empty");
  out.labels.push_back(text);
}

void take_path(std::string_view text, const LinePlace& at, ListedLine& out) {
  if (text.empty()) refuse_line(at.uri, at.number, "the path is empty");
  out.path = text;
}

void parse_line(std::string_view line, const LinePlace& at, ListedLine& out) {
  const std::vector<std::string_view> columns = columns_of(line);
  if (columns.size() < 3) {
    refuse_line(
        at.uri, at.number, "the line has too few columns",
        {.expected = "id TAB label [TAB label ...] TAB path",
         .found = fmt::format("{} column{}", columns.size(), columns.size() == 1 ? "" : "s")});
  }
  const std::optional<uint64_t> id = parse_number<uint64_t>(columns.front());
  if (!id) {
    refuse_line(at.uri, at.number, "the id is not a number",
                {.expected = "a whole number of at least 0",
                 .found = fmt::format("'{}'", columns.front())});
  }
  out.id = *id;
  out.line = at.number;
  out.labels.clear();
  for (size_t i = 1; i + 1 < columns.size(); ++i) take_label(columns[i], at, out);
  take_path(columns.back(), at, out);
}

class TabbedLines final : public ListReader {
 public:
  TabbedLines(std::string_view text, std::string uri) : rest_(text), uri_(std::move(uri)) {}

  bool next(ListedLine& out) override {
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

 private:
  std::string_view rest_;
  std::string uri_;
  uint64_t line_ = 0;
};

bool is_same_word(std::string_view text, std::string_view lower_case) {
  return text.size() == lower_case.size() && ends_with_ignoring_case(text, lower_case);
}

class HeadedRows final : public ListReader {
 public:
  HeadedRows(std::string_view text, char divider, std::string uri, const Warn& warn)
      : rows_(text, divider, uri), uri_(std::move(uri)) {
    if (!rows_.next(fields_)) fields_.clear();
    path_ = column("path", divider);
    label_ = column("label", divider);
    columns_ = fields_.size();
    if (warn && columns_ > 2) warn_of_others(warn);
  }

  bool next(ListedLine& out) override {
    const uint64_t row = row_++;  // counts unreadable rows too
    if (!rows_.next(fields_)) return false;
    const LinePlace at{uri_, rows_.line()};
    out.id = row;
    out.line = rows_.line();
    if (fields_.size() != columns_) {
      refuse_line(at.uri, at.number, "the row has a different number of fields than the first row",
                  {.expected = fmt::to_string(columns_),
                   .found = fmt::to_string(fields_.size()),
                   .remedy = "Put quotation marks around each field that contains a separator"});
    }
    out.labels.clear();
    take_label(fields_[label_], at, out);
    take_path(fields_[path_], at, out);
    return true;
  }

 private:
  size_t column(std::string_view name, char divider) const {
    const auto is_it = [&](const std::string& field) { return is_same_word(field, name); };
    const auto found = std::find_if(fields_.begin(), fields_.end(), is_it);
    if (found != fields_.end() && std::none_of(found + 1, fields_.end(), is_it)) {
      return static_cast<size_t>(found - fields_.begin());
    }
    throw CorruptError(
        fmt::format("the first row has {} column '{}'",
                    found == fields_.end() ? "no" : "more than one", name),
        {.path = uri_,
         .expected = fmt::format("the columns 'path' and 'label', separated by {}",
                                 divider == ',' ? "commas" : "TABs"),
         .found = fields_.empty() ? "no row" : fmt::format("'{}'", fmt::join(fields_, "', '")),
         .remedy = "Name the columns in the list's first row"});
  }

  void warn_of_others(const Warn& warn) const {
    std::vector<std::string> others = fields_;
    std::erase_if(others, [&](const std::string& field) {
      return is_same_word(field, "path") || is_same_word(field, "label");
    });
    warn(fmt::format("{}: only the list's columns 'path' and 'label' are used, not '{}'", uri_,
                     fmt::join(others, "', '")));
  }

  CsvRows rows_;
  std::string uri_;
  std::vector<std::string> fields_;  // of the last row
  size_t columns_ = 0;
  size_t path_ = 0;
  size_t label_ = 0;
  uint64_t row_ = 0;
};

}  // namespace

std::unique_ptr<ListReader> make_list_reader(std::string_view text, const std::string& uri,
                                             const Warn& warn) {
  if (ends_with_ignoring_case(uri, kCommaEnd)) {
    return std::make_unique<HeadedRows>(text, ',', uri, warn);
  }
  if (ends_with_ignoring_case(uri, kTabEnd)) {
    return std::make_unique<HeadedRows>(text, '\t', uri, warn);
  }
  return std::make_unique<TabbedLines>(text, uri);
}

bool is_list_name(std::string_view name) {
  return ends_with_ignoring_case(name, kLineEnd) || ends_with_ignoring_case(name, kCommaEnd) ||
         ends_with_ignoring_case(name, kTabEnd);
}

void refuse_line(const std::string& uri, uint64_t line, const std::string& failure,
                 ErrorDetail detail) {
  detail.path = uri;
  throw CorruptError(fmt::format("line {}: {}", line, failure), std::move(detail));
}

}  // namespace fuelrail
