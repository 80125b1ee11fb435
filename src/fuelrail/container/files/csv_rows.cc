#include "fuelrail/container/files/csv_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fuelrail/base/error.h"

namespace fuelrail {

CsvRows::CsvRows(std::string_view text, char divider, std::string uri)
    : text_(text), divider_(divider), uri_(std::move(uri)) {}

bool CsvRows::next(std::vector<std::string>& fields) {
  while (at_ < text_.size()) {
    row_line_ = line_;
    pass_over_spaces();
    if (!at_row_end()) {
      read_row(fields);
      return true;
    }
    pass_over_row_end();
  }
  return false;
}

// Moves past the row even if it throws.
void CsvRows::read_row(std::vector<std::string>& fields) {
  size_t count = 0;
  for (;;) {
    if (fields.size() == count) fields.emplace_back();
    std::string& field = fields[count++];
    pass_over_spaces();
    if (at_ < text_.size() && text_[at_] == '"') {
      read_quoted_field(field);
    } else {
      field = plain_field();
    }
    if (at_row_end()) break;
    ++at_;  // the separator
  }
  pass_over_row_end();
  fields.resize(count);
}

std::string_view CsvRows::plain_field() {
  const std::string_view rest = text_.substr(at_);
  const size_t end = std::min({rest.find(divider_), rest.find('\n'), rest.size()});
  at_ += end;
  const std::string_view field = rest.substr(0, end);
  return field.substr(0, field.find_last_not_of(" \t\r") + 1);
}

void CsvRows::read_quoted_field(std::string& field) {
  const uint64_t begun = line_;
  field.clear();
  for (;;) {
    const size_t begin = at_ + 1;  // after the quotation mark
    at_ = std::min(text_.find('"', begin), text_.size());
    const std::string_view piece = text_.substr(begin, at_ - begin);
    line_ += static_cast<uint64_t>(std::count(piece.begin(), piece.end(), '\n'));
    if (at_ == text_.size()) {
      refuse_quotes(
          "a quotation mark is never closed", begun,
          "Add the closing quotation mark. If the mark is part of the text, write it twice, and "
          "put the whole field in quotation marks");
    }
    field += piece;
    ++at_;
    if (at_ == text_.size() || text_[at_] != '"') break;
    field += '"';
  }
  pass_over_spaces();
  if (at_row_end() || text_[at_] == divider_) return;
  const uint64_t line = line_;
  at_ = std::min(text_.find('\n', at_), text_.size());
  if (at_ < text_.size()) pass_over_row_end();
  refuse_quotes("text follows a closing quotation mark", line,
                "Double each quotation mark that is part of the text");
}

void CsvRows::pass_over_spaces() {
  while (at_ < text_.size() && text_[at_] != divider_ &&
         (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) {
    ++at_;
  }
}

void CsvRows::pass_over_row_end() {
  if (at_ == text_.size()) return;
  ++at_;
  ++line_;
}

void CsvRows::refuse_quotes(const char* failure, uint64_t line, const char* remedy) const {
  throw CorruptError(fmt::format("line {}: {}", line, failure), {.path = uri_, .remedy = remedy});
}

}  // namespace fuelrail
