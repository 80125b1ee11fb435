#include "fuelrail/mxnet/label_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/base/parse_number.h"
#include "fuelrail/container/files/image_list.h"

namespace fuelrail::mxnet {
namespace {

constexpr std::string_view kColumnEnds = " \t\v\f";
constexpr std::string_view kLineEnds = "\r\n";

struct ListRow {
  const std::string& uri;
  uint64_t line;  // counted from 1
  int64_t label_width;
};

// The expected columns of a row, for errors.
std::string columns_wanted(int64_t label_width) {
  if (label_width < 0) return "id, one or more labels, path";
  return fmt::format("id, {} label{}, path", label_width, label_width == 1 ? "" : "s");
}

[[noreturn]] void refuse_row(const ListRow& row, const char* failure, ErrorDetail detail) {
  detail.path = row.uri;
  throw CorruptError(fmt::format("line {}: {}", row.line, failure), std::move(detail));
}

void split_columns(std::string_view line, std::vector<std::string_view>& columns) {
  columns.clear();
  for (size_t end = 0;;) {
    const size_t begin = line.find_first_not_of(kColumnEnds, end);
    if (begin == std::string_view::npos) return;
    end = std::min(line.find_first_of(kColumnEnds, begin), line.size());
    columns.push_back(line.substr(begin, end - begin));
  }
}

// A path may contain spaces if a TAB separates it from a label before it, as im2rec writes lists.
void join_path(std::string_view line, std::vector<std::string_view>& columns) {
  const size_t tab = line.rfind('\t', static_cast<size_t>(columns.back().data() - line.data()));
  if (tab == std::string_view::npos) return;
  size_t path = columns.size() - 1;
  while (path > 0 && columns[path - 1].data() > line.data() + tab) --path;
  if (path > 1) columns.resize(path + 1);
}

float label_of(std::string_view text, const ListRow& row) {
  std::string_view number = text;
  if (number.starts_with('+')) number.remove_prefix(1);
  const std::optional<double> label = parse_number<double>(number);
  if (label && std::isfinite(static_cast<float>(*label))) return static_cast<float>(*label);
  refuse_row(
      row, "the label is not a number",
      {.expected = columns_wanted(row.label_width),
       .found = fmt::format("'{}'", text),
       .remedy = row.label_width < 0 ? "Write a TAB before paths that contain spaces"
                                     : "Set label_width to the number of labels in each row"});
}

uint64_t id_of(std::string_view text, const ListRow& row) {
  const std::optional<uint64_t> id = parse_number<uint64_t>(text);
  if (id) return *id;
  refuse_row(row, "the id is not a number",
             {.expected = "a whole number of at least 0", .found = fmt::format("'{}'", text)});
}

// The number of labels in the row. With a fixed width the path may be missing, because MXNet does
// not read it.
size_t count_labels(const std::vector<std::string_view>& columns, const ListRow& row) {
  const bool any_width = row.label_width < 0;
  const size_t least = any_width ? 3 : static_cast<size_t>(row.label_width) + 1;
  if (columns.size() < least) {
    refuse_row(
        row, "the line has too few columns",
        {.expected = columns_wanted(row.label_width),
         .found = fmt::format("{} column{}", columns.size(), columns.size() == 1 ? "" : "s")});
  }
  return any_width ? columns.size() - 2 : static_cast<size_t>(row.label_width);
}

}  // namespace

LabelList::LabelList(std::string_view text, int64_t label_width, const std::string& uri)
    : uri_(uri) {
  if (label_width != -1 && label_width < 1) {
    throw InvalidArgumentError(
        "`label_width` is out of range",
        {.expected = "-1 (any), or at least 1", .found = fmt::format("{}", label_width)});
  }
  std::vector<std::string_view> columns;
  for (size_t begin = 0, line = 1; begin < text.size(); ++line) {
    const size_t end = std::min(text.find_first_of(kLineEnds, begin), text.size());
    const std::string_view line_text = text.substr(begin, end - begin);
    split_columns(line_text, columns);
    begin = text.substr(end).starts_with("\r\n") ? end + 2 : end + 1;
    if (columns.empty()) continue;
    if (label_width < 0) join_path(line_text, columns);
    const ListRow row{uri_, line, label_width};
    const uint64_t id = id_of(columns.front(), row);
    const Row place{labels_.size(), count_labels(columns, row)};
    for (size_t i = 1; i <= place.count; ++i) labels_.push_back(label_of(columns[i], row));
    rows_.insert_or_assign(id, place);
  }
  for (const auto& [id, row] : rows_) widest_ = std::max(widest_, row.count);
}

LabelList LabelList::read(const std::string& uri, int64_t label_width) {
  return LabelList(read_list_text(uri), label_width, uri);
}

std::span<const float> LabelList::find(uint64_t id) const {
  const auto row = rows_.find(id);
  if (row == rows_.end()) {
    throw CorruptError("the list has no row for a record",
                       {.path = uri_,
                        .expected = fmt::format("a row with id {}", id),
                        .remedy = "Add the row to the list"});
  }
  return std::span(labels_).subspan(row->second.begin, row->second.count);
}

}  // namespace fuelrail::mxnet
