#include "fuelrail/pack/annotations/jsonl.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/files/image_list.h"
#include "fuelrail/pack/annotations/jsonl_columns.h"
#include "fuelrail/pack/source/source_values.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::pack {
namespace {

using Row = nlohmann::ordered_json;

constexpr uint64_t kReadBytes = uint64_t{1} << 20;
constexpr uint64_t kLongestLine = uint64_t{64} << 20;

// A line of the table.
struct TableLine {
  uint64_t number = 0;  // from 1
  uint64_t offset = 0;
  uint32_t length = 0;
  uint32_t crc = 0;
};

// Calls `take` with each line that is not empty.
void for_each_line(const Source& source, const KeepGoing& keep_going,
                   const std::function<void(const TableLine&, std::string_view)>& take) {
  std::string held;  // from the first line that is not taken yet
  TableLine line{.number = 1};
  uint64_t read = 0;
  const auto take_line = [&](std::string_view text) {
    line.length = static_cast<uint32_t>(text.size());
    line.crc = crc32(as_bytes(text));
    if (text.find_first_not_of(" \t\r") != text.npos) take(line, text);
    line.offset += text.size() + 1;
    ++line.number;
  };
  while (read < source.size_bytes()) {
    check_keep_going(keep_going, source.uri());
    size_t searched = held.size();
    const uint64_t bytes = std::min(kReadBytes, source.size_bytes() - read);
    held.resize(searched + bytes);
    source.read(read, std::as_writable_bytes(std::span(held).subspan(searched)));
    read += bytes;
    size_t begin = 0;
    for (size_t end = held.find('\n', searched); end != held.npos; end = held.find('\n', begin)) {
      take_line(std::string_view(held).substr(begin, end - begin));
      begin = end + 1;
    }
    held.erase(0, begin);
    if (held.size() > kLongestLine) {
      throw CorruptError(fmt::format("line {}: the line is too long", line.number),
                         {.expected = fmt::format("at most {} bytes", kLongestLine)});
    }
  }
  if (!held.empty()) take_line(held);
}

template <typename T>
void append_numbers(const Row& value, std::vector<std::byte>& bytes) {
  if (!value.is_array()) return append_le(bytes, value.get<T>());
  for (const Row& item : value) append_numbers<T>(item, bytes);
}

// The extents of a value whose column has the given ones. Where a list is empty, those inside it
// that differ are 0.
std::vector<int64_t> extents_of(const Row& value, std::vector<int64_t> shape) {
  const Row* list = &value;
  for (int64_t& extent : shape) {
    if (list != nullptr) extent = static_cast<int64_t>(list->size());
    list = list == nullptr || list->empty() ? nullptr : &list->front();
    extent = std::max<int64_t>(extent, 0);
  }
  return shape;
}

void set_numbers(const Row& row, const FieldSpec& field, SourceValue& value) {
  value.bytes.clear();
  value.shape = extents_of(row, field.shape);
  if (field.dtype == DType::kBool) {
    append_numbers<bool>(row, value.bytes);
  } else if (field.dtype == DType::kInt64) {
    append_numbers<int64_t>(row, value.bytes);
  } else {
    append_numbers<float>(row, value.bytes);
  }
}

class JsonTable final : public SampleSource {
 public:
  JsonTable(const std::string& table, const std::string& root, const Warn& warn,
            const KeepGoing& keep_going)
      : table_(file_system_for(table).open(table)), root_(root_of_list(table, root)) {
    try {
      find_columns(warn, keep_going);
    } catch (Error& error) {
      error.add({.path = table});
      throw;
    }
  }

  const Schema& schema() const override { return schema_; }
  uint64_t size() const override { return lines_.size(); }
  std::string path(uint64_t i) const override {
    return fmt::format("{}: line {}", table_->uri(), lines_[i].number);
  }
  std::string description(uint64_t i) const override {
    return fmt::format("{} {:08x}", path(i), lines_[i].crc);
  }

  void read(uint64_t i, SourceSample& out) const override {
    out.id = i;
    out.fields.resize(schema_.fields.size());
    std::string text(lines_[i].length, '\0');
    table_->read(lines_[i].offset, std::as_writable_bytes(std::span(text)));
    if (crc32(as_bytes(text)) != lines_[i].crc) {
      throw CorruptError("the line has changed since the table was opened", {.path = path(i)});
    }
    Row row;
    for (const auto& [name, value] : parse_jsonl(text, row)) {
      const size_t field = schema_.index_of(name);
      set_value(*value, schema_.fields[field], out.fields[field]);
    }
  }

 private:
  void find_columns(const Warn& warn, const KeepGoing& keep_going) {
    std::vector<JsonColumn> columns;
    for_each_line(*table_, keep_going, [&](const TableLine& line, std::string_view text) {
      try {
        add_line(text, columns);
      } catch (const CorruptError& error) {
        throw CorruptError(fmt::format("line {}: {}", line.number, error.failure()),
                           error.detail());
      }
      lines_.push_back(line);
    });
    if (lines_.empty()) throw CorruptError("the table has no lines");
    for (const JsonColumn& column : columns) {
      schema_.fields.push_back(column.field());
      if (const std::string mixed = column.mixed_texts(); warn && !mixed.empty()) {
        warn(fmt::format("{}: {}", table_->uri(), mixed));
      }
    }
  }

  // Adds the values of the next line.
  void add_line(std::string_view text, std::vector<JsonColumn>& columns) const {
    Row row;
    const JsonCells cells = parse_jsonl(text, row);
    for (size_t i = 0; i < cells.size(); ++i) {
      const auto& [name, value] = cells[i];
      auto column = columns.begin() + static_cast<std::ptrdiff_t>(std::min(i, columns.size()));
      if (column == columns.end() || column->name() != name) {
        column = std::ranges::find(columns, name, &JsonColumn::name);
      }
      if (column == columns.end()) {
        if (!lines_.empty())
          throw CorruptError(fmt::format("`{}` is not in the lines before", name));
        column = columns.insert(columns.end(), JsonColumn(name));
      }
      if (column->values() > lines_.size()) {
        throw CorruptError(fmt::format("`{}` occurs twice", name));
      }
      column->add(*value);
    }
    for (const JsonColumn& column : columns) {
      if (column.values() > lines_.size()) continue;
      throw CorruptError(fmt::format("`{}` does not exist", column.name()),
                         {.remedy = "Give every line the same members; write an empty list or an "
                                    "empty string for an absent value"});
    }
  }

  void set_value(const Row& cell, const FieldSpec& field, SourceValue& value) const {
    if (field.kind == FieldKind::kTensor) return set_numbers(cell, field, value);
    if (!field.has(kListField)) return set_item(cell, field, value);
    value.items.resize(cell.size());
    SourceValue item;
    for (size_t i = 0; i < cell.size(); ++i) {
      set_item(cell[i], field, item);
      value.items[i].swap(item.bytes);
    }
  }

  void set_item(const Row& cell, const FieldSpec& field, SourceValue& value) const {
    const auto& text = cell.get_ref<const std::string&>();
    if (field.kind == FieldKind::kText) return set_text(text, value);
    set_image(listed_uri(text, root_), value);
  }

  std::shared_ptr<const Source> table_;
  std::string root_;
  std::vector<TableLine> lines_;
  Schema schema_;
};

}  // namespace

std::unique_ptr<SampleSource> open_jsonl(const std::string& table, const std::string& root,
                                         const Warn& warn, const KeepGoing& keep_going) {
  return std::make_unique<JsonTable>(table, root, warn, keep_going);
}

}  // namespace fuelrail::pack
