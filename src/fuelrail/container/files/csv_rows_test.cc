#include "fuelrail/container/files/csv_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail {
namespace {

using ::testing::ElementsAre;

using Rows = std::vector<std::vector<std::string>>;

Rows rows_of(const std::string& text, char divider = ',') {
  CsvRows rows(text, divider, "x.csv");
  Rows all;
  for (std::vector<std::string> fields; rows.next(fields);) all.push_back(fields);
  return all;
}

TEST(CsvRows, quoted_fields_hold_dividers_line_ends_and_quotation_marks) {
  EXPECT_EQ(rows_of("a,b\n\"c,d\",\"e\r\nf\"\n\"\"\"g\"\"\",\"\"\n"),
            (Rows{{"a", "b"}, {"c,d", "e\r\nf"}, {"\"g\"", ""}}));
}

TEST(CsvRows, line_ends_spaces_and_empty_lines_do_not_count) {
  EXPECT_EQ(rows_of("\r\n a , b \r\n\n \t\n\"c\" , \"d \"\r\ne,f"),
            (Rows{{"a", "b"}, {"c", "d "}, {"e", "f"}}));
  EXPECT_EQ(rows_of("a\t b \n\t\n", '\t'), (Rows{{"a", "b"}, {"", ""}}));
  EXPECT_EQ(rows_of("a,,\n"), (Rows{{"a", "", ""}}));
}

TEST(CsvRows, a_quotation_mark_inside_a_plain_field_is_text) {
  EXPECT_EQ(rows_of("12\" pizza,b\n"), (Rows{{"12\" pizza", "b"}}));
}

TEST(CsvRows, lines_are_counted_through_quoted_line_ends) {
  CsvRows rows("a\n\"b\nc\"\n\nd\n", ',', "x.csv");
  std::vector<uint64_t> lines;
  for (std::vector<std::string> fields; rows.next(fields);) lines.push_back(rows.line());
  EXPECT_THAT(lines, ElementsAre(1, 2, 5));
}

TEST(CsvRows, a_quotation_mark_that_is_not_closed_ends_the_text_with_an_error) {
  CsvRows rows("a\nb,\"c\nd\n", ',', "x.csv");
  std::vector<std::string> fields;
  ASSERT_TRUE(rows.next(fields));
  EXPECT_EQ(testing::refusal_of<CorruptError>([&] { rows.next(fields); }),
            "x.csv: line 2: a quotation mark is never closed. Add the closing quotation mark. "
            "If the mark is part of the text, write it twice, and put the whole field in "
            "quotation marks.");
  EXPECT_FALSE(rows.next(fields));
}

TEST(CsvRows, text_behind_a_closing_quotation_mark_is_refused_and_the_next_row_follows) {
  CsvRows rows("\"a\"b,c\nd\n", ',', "x.csv");
  std::vector<std::string> fields;
  EXPECT_EQ(testing::refusal_of<CorruptError>([&] { rows.next(fields); }),
            "x.csv: line 1: text follows a closing quotation mark. Double each quotation mark "
            "that is part of the text.");
  ASSERT_TRUE(rows.next(fields));
  EXPECT_THAT(fields, ElementsAre("d"));
  EXPECT_EQ(rows.line(), 2u);
}

}  // namespace
}  // namespace fuelrail
