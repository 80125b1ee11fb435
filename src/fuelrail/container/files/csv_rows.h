// Rows of text with quoted fields, as RFC 4180 has them: `.csv`, divided by commas, and `.tsv`,
// divided by TABs.
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

// A field that begins with a quotation mark ends at the next one; two in it are one of its text,
// and it may hold dividers and line ends. In any other field they are text. Spaces around a field
// and a carriage return before a line end do not count; empty lines are passed over. Lifetime: the
// text's.
class CsvRows {
 public:
  // `uri` names the text in errors.
  CsvRows(std::string_view text, char divider, std::string uri);

  // Returns: false at the end. `fields` is reused from row to row. Errors: CorruptError with the
  // line for a quotation mark that is never closed, which ends the text, and for text behind a
  // closing one; the next call begins behind them.
  bool next(std::vector<std::string>& fields);

  // On which the last row began, counted from 1.
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
