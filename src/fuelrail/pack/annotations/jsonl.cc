#include "fuelrail/pack/annotations/jsonl.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/base/parse_number.h"
#include "fuelrail/base/utf8.h"
#include "fuelrail/container/field_rules.h"
#include "fuelrail/container/files/files_container.h"
#include "fuelrail/container/files/image_list.h"
#include "fuelrail/pack/annotations/json_words.h"
#include "fuelrail/pack/source/source_values.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::pack {
namespace {

using Row = nlohmann::ordered_json;

constexpr int kMostGroups = 32;
constexpr size_t kMostExtents = 8;
// The types hold all whole numbers up to these.
constexpr double kLargestOfFloat32 = 1 << 24;
constexpr double kLargestOfFloat64 = 0x1p53;

constexpr uint64_t kReadBytes = uint64_t{1} << 20;
constexpr uint64_t kLongestLine = uint64_t{64} << 20;

std::string shown(const Row& value) {
  if (value.is_structured()) return std::string("an ") + value.type_name();
  std::string text = value.dump(-1, ' ', true, Row::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

constexpr const char* kSameMembers =
    "Give every line the same members; write an empty list or an empty string for an absent value";

// The members of a line as columns, in the line's order. Lifetime: that of the line.
using JsonCells = std::vector<std::pair<std::string, const Row*>>;

void add_cells(const std::string& prefix, const Row& object, int depth, JsonCells& cells) {
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

// Receives the parser's events of a line.
class LineEvents {
 public:
  // Errors: CorruptError for too many members, and for one that repeats.
  bool on(Row::parse_event_t event, const Row& value) {
    if (event == Row::parse_event_t::object_start) objects_.emplace_back();
    if (event == Row::parse_event_t::object_end) objects_.pop_back();
    if (event == Row::parse_event_t::key) add_member(value.get_ref<const std::string&>());
    has_huge_ |= event == Row::parse_event_t::value && value.is_number_float() &&
                 std::abs(value.get<double>()) >= kBeyondInt64;
    return true;
  }

  bool has_huge() const { return has_huge_; }  // a float that may be written as an integer

 private:
  static constexpr double kBeyondInt64 = 0x1p63;

  void add_member(const std::string& name) {
    if (++members_ > kMaxFields) {  // the time to add one grows with their number
      throw CorruptError("the line has too many members",
                         {.expected = fmt::format("at most {}", kMaxFields)});
    }
    const bool is_new = objects_.back().names.insert(name).second;
    objects_.back().last = name;
    if (is_new) return;
    std::string path;
    for (const Object& object : objects_) path += (path.empty() ? "" : ".") + object.last;
    throw CorruptError(fmt::format("`{}` occurs twice", path));
  }

  struct Object {  // that is open
    std::set<std::string> names;
    std::string last;
  };
  std::vector<Object> objects_;
  size_t members_ = 0;
  bool has_huge_ = false;
};

// The parser reads an integer beyond 64 bits as a float. Errors: CorruptError, with its column.
// Requires: the line is JSON.
void check_integers(std::string_view line) {
  constexpr std::string_view kOfNumbers = "+-.0123456789eE";
  for (size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '"') {
      for (++at; line[at] != '"'; ++at) at += line[at] == '\\' ? 1 : 0;
    } else if (line[at] == '-' || (line[at] >= '0' && line[at] <= '9')) {
      const size_t end = std::min(line.find_first_not_of(kOfNumbers, at), line.size());
      const std::string_view number = line.substr(at, end - at);
      if (number.find_first_of(".eE") == number.npos && !parse_number<int64_t>(number) &&
          !parse_number<uint64_t>(number)) {
        throw CorruptError("an integer has more than 64 bits",
                           {.found = fmt::format("{} at byte {}", number, at),
                            .remedy = "Write it as text, or with an exponent as a float"});
      }
      at = end - 1;
    }
  }
}

// Parses a line. `out` owns the values. Errors: CorruptError for a line that is not a JSON object
// or has an integer of more than 64 bits (with the column), has more members than a schema has
// fields or one that repeats, and for null.
JsonCells parse_jsonl(std::string_view line, Row& out) {
  LineEvents events;
  try {
    out = Row::parse(line, [&events](int, Row::parse_event_t event, const Row& value) {
      return events.on(event, value);
    });
    if (events.has_huge()) check_integers(line);
  } catch (const nlohmann::json::parse_error& error) {
    if (const size_t valid = utf8_bytes(line); valid < line.size()) {
      throw CorruptError("the line is not UTF-8",
                         {.found = fmt::format("{:#04x} at byte {}",
                                               static_cast<unsigned char>(line[valid]), valid),
                          .remedy = "Save the table as UTF-8"});
    }
    const size_t at = error.byte > 0 ? error.byte - 1 : 0;
    const std::string_view word = python_word(line.substr(std::min(at, line.size())));
    throw CorruptError("the line is not valid JSON",
                       {.found = fmt::format("{} at byte {}", word.empty() ? "an error" : word, at),
                        .remedy = word.empty() ? "" : kNoPythonWords});
  } catch (const nlohmann::json::exception&) {  // a number that no double holds
    throw CorruptError("the line is not valid JSON");
  }
  if (!out.is_object()) {
    throw CorruptError("the line is not a JSON object", {.found = shown(out)});
  }
  JsonCells cells;
  add_cells("", out, 1, cells);
  return cells;
}

// What is known about a column's values so far.
class JsonColumn {
 public:
  explicit JsonColumn(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  uint64_t values() const { return values_; }  // number of values so far

  // Adds a value. Errors: CorruptError for a value that is not of the column's type, and for one
  // that no column can have: lists that mix types, nested lists of unequal lengths or of more than
  // 8 dimensions, an integer that int64 does not hold, a number that float32 does not hold.
  void add(const Row& value);

  // The column's field. Strings that all have the extension of an image are images, other strings
  // are text, and a list of strings is a list of these. Numbers are a tensor: bool, int64 if all
  // are integers, else float32, or float64 if one is larger than 2**24 (a time in seconds); extents
  // that differ are -1. Errors: CorruptError if all values are empty lists, and for a column with
  // fractions and an integer that float64 does not hold.
  FieldSpec field() const;

  // A warning if some strings, but not all, have the extension of an image; else empty.
  std::string mixed_texts() const;

 private:
  enum class Kind { kOpen, kText, kBool, kInteger, kFloat };

  void add_element(const Row& value);
  void add_kind(Kind kind);
  void add_extents(const std::vector<int64_t>& extents);
  void add_text(const std::string& text);
  Kind kind_of(const Row& value) const;
  std::vector<int64_t> add_numbers(const Row& list, size_t level);
  [[noreturn]] void refuse(const std::string& failure, const std::string& expected,
                           const std::string& found) const;

  std::string name_;
  Kind kind_ = Kind::kOpen;
  uint64_t values_ = 0;
  bool is_whole_ = false;  // a value without an empty list has shown the number of extents
  std::vector<int64_t> extents_;
  uint64_t images_ = 0;  // strings that look like images
  uint64_t texts_ = 0;   // other strings
  double largest_ = 0;
  double largest_integer_ = 0;
};

void JsonColumn::add(const Row& value) {
  if (!value.is_array()) {
    add_element(value);
    if (value.is_string()) add_text(value.get_ref<const std::string&>());
    return add_extents({});
  }
  const bool texts = !value.empty() && value.front().is_string();
  if (!texts) return add_extents(add_numbers(value, 1));
  add_kind(Kind::kText);
  for (const Row& item : value) {
    if (!item.is_string()) refuse("has a list of several types", "strings only", shown(item));
    add_text(item.get_ref<const std::string&>());
  }
  add_extents({1});  // the number of items does not belong to the schema
}

JsonColumn::Kind JsonColumn::kind_of(const Row& value) const {
  if (value.is_string()) return Kind::kText;
  if (value.is_boolean()) return Kind::kBool;
  if (!value.is_number()) refuse("has the wrong type", "a number, text, or a list", shown(value));
  if (value.is_number_float()) return Kind::kFloat;
  if (value.is_number_unsigned() &&
      value.get<uint64_t>() > uint64_t{std::numeric_limits<int64_t>::max()}) {
    refuse("has an integer that int64 cannot hold", "", shown(value));
  }
  return Kind::kInteger;
}

void JsonColumn::add_element(const Row& value) {
  const Kind kind = kind_of(value);
  add_kind(kind);
  if (!value.is_number()) return;
  const double size = std::abs(value.get<double>());
  largest_ = std::max(largest_, size);
  if (kind == Kind::kInteger) largest_integer_ = std::max(largest_integer_, size);
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
std::vector<int64_t> JsonColumn::add_numbers(const Row& list, size_t level) {
  if (level > kMostExtents) {
    refuse("has too many dimensions", fmt::format("at most {}", kMostExtents), "");
  }
  std::vector<int64_t> inner;
  for (size_t i = 0; i < list.size(); ++i) {
    const Row& item = list[i];
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
  if (kind_ == Kind::kFloat && largest_integer_ > kLargestOfFloat64) {
    refuse("has an integer that float64 cannot hold exactly, and fractions",
           fmt::format("at most {}", kLargestOfFloat64), fmt::to_string(largest_integer_));
  }
  field.kind = FieldKind::kTensor;
  field.dtype = kind_ == Kind::kBool           ? DType::kBool
                : kind_ != Kind::kFloat        ? DType::kInt64
                : largest_ > kLargestOfFloat32 ? DType::kFloat64
                                               : DType::kFloat32;
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
  } else if (field.dtype == DType::kFloat64) {
    append_numbers<double>(row, value.bytes);
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

  std::string contents() const override { return "root: " + root_ + "\n"; }

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
    check_fields(schema_);
    warn_of_roles(warn);
  }

  // A table has no way to say that an image is a mask.
  void warn_of_roles(const Warn& warn) const {
    std::vector<std::string> images, others;
    for (const FieldSpec& field : schema_.fields) {
      const bool is_image = field.kind == FieldKind::kImage;
      if (is_image) images.push_back(field.name);
      if (is_image && images.size() > 1) others.push_back("`" + field.name + "`");
    }
    if (!warn || images.empty() || others.empty()) return;
    warn(
        fmt::format("{}: transforms of `{}` do not move {}, because the fields of a table have no "
                    "roles. If they are masks, pack the table in Python with a schema "
                    "(docs/annotations.md)",
                    table_->uri(), images.front(), fmt::join(others, ", ")));
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
          throw CorruptError(fmt::format("`{}` is not in the lines before", name),
                             {.remedy = kSameMembers});
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
                         {.remedy = kSameMembers});
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
    try {
      set_image(listed_uri(text, root_), value);
    } catch (NotFoundError& error) {
      error.add({.remedy = "Paths in the table are relative to its folder, or to --root"});
      throw;
    }
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
