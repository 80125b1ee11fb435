// Rows of text with quoted fields, as in RFC 4180: `.csv`, separated by commas, and `.tsv`,
// separated by TABs.
//
//   path,label
//   cats/1.jpg,cat
//   "dogs/a, ""b"".jpg",dog
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fuelrail {

// A field that begins with a quotation mark ends at the next one. Inside it, two quotation marks
// stand for one, and separators and line ends are text. In any other field, quotation marks are
// text. Spaces around a field and a carriage return before a line end are ignored; empty lines are
// skipped. Lifetime: the text outlives the reader.
class CsvRows {
 public:
  // `uri` names the text in errors.
  CsvRows(std::string_view text, char divider, std::string uri);

  // Returns: false at the end. `fields` is reused from row to row. Errors: CorruptError, with the
  // line, for a quotation mark that is never closed and for text after a closing one. After an
  // error, the next call continues after the faulty text (if a quotation mark is never closed, at
  // the end of the text).
  bool next(std::vector<std::string>& fields);

  // The line where the last row began, counted from 1.
  uint64_t line() const { return row_line_; }

 private:
  void read_row(std::vector<std::string>& fields);
  std::string_view plain_field();
  void read_quoted_field(std::string& field);
  void pass_over_spaces();
  bool at_row_end() const { return at_ == text_.size() || text_[at_] == '\n'; }
  void pass_over_row_end();
  [[noreturn]] void refuse_quotes(const char* failure, uint64_t line, const char* remedy) const;

  std::string_view text_;
  char divider_;
  std::string uri_;
  size_t at_ = 0;
  uint64_t line_ = 1;  // of `at_`
  uint64_t row_line_ = 0;
};

}  // namespace fuelrail
