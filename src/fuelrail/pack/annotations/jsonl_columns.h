// Finds the types of the columns of a JSONL table: one JSON object on each line, all with the same
// members. A member that is an object counts as a group: {"size": {"x": 1}} is the column `size.x`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuelrail/container/sample.h"

namespace fuelrail::pack {

// The members of a line as columns, in the line's order. Lifetime: that of the line.
using JsonCells = std::vector<std::pair<std::string, const nlohmann::ordered_json*>>;

// Parses a line. `out` owns the values. Errors: CorruptError, with the column, for a line that is
// not a JSON object, and for null.
JsonCells parse_jsonl(std::string_view line, nlohmann::ordered_json& out);

// What is known about a column's values so far.
class JsonColumn {
 public:
  explicit JsonColumn(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  uint64_t values() const { return values_; }  // number of values so far

  // Adds a value. Errors: CorruptError for a value that is not of the column's type, and for one
  // that no column can have: lists that mix types, nested lists of unequal lengths or of more than
  // 8 dimensions, an integer that int64 does not hold, a number that float32 does not hold.
  void add(const nlohmann::ordered_json& value);

  // The column's field. Strings that all have the extension of an image are images, other strings
  // are text, and a list of strings is a list of these. Numbers are a tensor: bool, int64 if all
  // are integers, else float32; extents that differ are -1. Errors: CorruptError if all values are
  // empty lists, and for a float32 column with an integer that float32 does not hold.
  FieldSpec field() const;

  // A warning if some strings, but not all, have the extension of an image; else empty.
  std::string mixed_texts() const;

 private:
  enum class Kind { kOpen, kText, kBool, kInteger, kFloat };

  void add_element(const nlohmann::ordered_json& value);
  void add_kind(Kind kind);
  void add_extents(const std::vector<int64_t>& extents);
  void add_text(const std::string& text);
  Kind kind_of(const nlohmann::ordered_json& value) const;
  std::vector<int64_t> add_numbers(const nlohmann::ordered_json& list, size_t level);
  [[noreturn]] void refuse(const std::string& failure, const std::string& expected,
                           const std::string& found) const;

  std::string name_;
  Kind kind_ = Kind::kOpen;
  uint64_t values_ = 0;
  bool is_whole_ = false;  // a value without an empty list has shown the number of extents
  std::vector<int64_t> extents_;
  uint64_t images_ = 0;  // strings that look like images
  uint64_t texts_ = 0;   // other strings
  double largest_integer_ = 0;
};

}  // namespace fuelrail::pack
