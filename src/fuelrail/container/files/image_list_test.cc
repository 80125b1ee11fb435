#include "fuelrail/container/files/image_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string complaint_about(const std::string& text, const ListRules& rules = {},
                            const std::string& uri = "train.lst") {
  try {
    parse_image_list(text, uri, rules);
  } catch (const CorruptError& error) {
    return error.what();
  }
  return "";
}

TEST(ImageList, id_label_and_path_are_read) {
  const auto images = parse_image_list("7\t3\tcat/a.jpg\n8\t-0.5\tb.jpg\n", "x.lst");
  ASSERT_EQ(images.size(), 2u);
  EXPECT_EQ(images.id(0), 7u);
  EXPECT_THAT(images.labels(0), ElementsAre(3.0f));
  EXPECT_EQ(images.path(0), "cat/a.jpg");
  EXPECT_THAT(images.labels(1), ElementsAre(-0.5f));
}

TEST(ImageList, many_labels_stand_before_the_path) {
  const auto images = parse_image_list("0\t1\t2.5\t1e3\ta.jpg", "x.lst");
  EXPECT_THAT(images.labels(0), ElementsAre(1.0f, 2.5f, 1000.0f));
}

TEST(ImageList, a_path_may_hold_spaces) {
  EXPECT_EQ(parse_image_list("0\t1\tmy cat/a photo.jpg\n", "x.lst").path(0), "my cat/a photo.jpg");
}

TEST(ImageList, carriage_returns_padding_and_empty_lines_do_not_count) {
  const auto images = parse_image_list("\r\n 0 \t 1 \t a.jpg \r\n\n1\t2\tb.jpg", "x.lst");
  ASSERT_EQ(images.size(), 2u);
  EXPECT_EQ(images.path(0), "a.jpg");
  EXPECT_EQ(images.id(1), 1u);
}

TEST(ImageList, a_byte_order_mark_does_not_count) {
  const TemporaryDirectory directory;
  write_file(directory / "x.lst",
             "\xEF\xBB\xBF"
             "7\t1\ta.jpg\r\n");
  const auto images = read_image_list(directory / "x.lst");
  ASSERT_EQ(images.size(), 1u);
  EXPECT_EQ(images.id(0), 7u);
}

TEST(ImageList, absolute_paths_and_uris_ignore_the_root) {
  const auto images = parse_image_list("0\t1\t/data/a.jpg\n1\t1\tmemory://m/b.jpg\n", "x.lst");
  EXPECT_EQ(listed_uri(images.path(0), "r"), "/data/a.jpg");
  EXPECT_EQ(listed_uri(images.path(1), "r"), "memory://m/b.jpg");
}

TEST(ImageList, equal_ids_are_accepted) {
  EXPECT_EQ(parse_image_list("0\t1\ta.jpg\n0\t1\ta.jpg\n", "x.lst").size(), 2u);
}

TEST(ImageList, an_empty_text_is_an_empty_list) {
  EXPECT_EQ(parse_image_list("", "x.lst").size(), 0u);
  EXPECT_EQ(parse_image_list("\n\r\n", "x.lst").size(), 0u);
}

TEST(ImageList, a_label_that_is_no_finite_number_is_refused_with_its_line) {
  EXPECT_THAT(complaint_about("0\t\ta.jpg"), HasSubstr("line 1: the label is empty"));
  EXPECT_THAT(complaint_about("0\tnan\ta.jpg"), HasSubstr("line 1: the label is not a number"));
  EXPECT_THAT(complaint_about("0\tinf\ta.jpg"), HasSubstr("line 1: the label is not a number"));
  EXPECT_THAT(complaint_about("0\t1e999\ta.jpg"), HasSubstr("line 1: the label is not a number"));
}

TEST(ImageList, words_are_classes_in_the_order_of_their_code_points) {
  const auto images = parse_image_list("0\tdog\ta\n1\tcat\tb\n2\tdog\tc\n3\t1x\td\n", "x.lst");
  EXPECT_THAT(images.classes(), ElementsAre("1x", "cat", "dog"));
  EXPECT_THAT(images.labels(0), ElementsAre(2.0f));
  EXPECT_THAT(images.labels(1), ElementsAre(1.0f));
  EXPECT_THAT(images.labels(2), ElementsAre(2.0f));
  EXPECT_THAT(images.labels(3), ElementsAre(0.0f));
}

TEST(ImageList, words_are_numbered_by_the_given_classes) {
  const ListRules rules{.classes = {"dog", "bee", "cat"}};
  const auto images = parse_image_list("0\tcat\ta\n1\tdog\tb\n", "x.lst", rules);
  EXPECT_EQ(images.classes(), rules.classes);
  EXPECT_THAT(images.labels(0), ElementsAre(2.0f));
  EXPECT_EQ(complaint_about("0\tdog\ta\n1\tdgo\tb\n2\tdgo\tc\n", rules),
            "train.lst: line 2: the label is not one of the classes: found 'dgo'. "
            "Did you mean 'dog'?");
}

TEST(ImageList, numbers_are_numbers_of_the_given_classes) {
  const ListRules rules{.classes = {"dog", "bee"}};
  EXPECT_EQ(parse_image_list("0\t1\ta\n1\t0\tb\n", "x.lst", rules).classes(), rules.classes);
  EXPECT_EQ(
      complaint_about("0\t1\ta\n1\t2\tb\n", rules),
      "train.lst: line 2: the label is not a class number: expected one whole number from 0 to "
      "1, found 2");
  for (const char* label : {"-1", "0.5", "0\t1"}) {
    EXPECT_THAT(complaint_about(std::string("0\t") + label + "\ta\n", rules),
                HasSubstr("line 1: the label is not a class number"));
  }
}

TEST(ImageList, a_first_word_makes_names_of_labels_that_look_like_numbers) {
  std::vector<std::string> said;
  const ListRules rules{.leave_out = [](const CorruptError&) { return true; },
                        .warn = [&](const std::string& text) { said.push_back(text); }};
  const auto images = parse_image_list(
      "x\t5\tz\n0\tcat\ta\n\n1\t747\tb\n2\tnan\tc\n3\t16777217\td\n", "x.lst", rules);
  EXPECT_THAT(images.classes(), ElementsAre("16777217", "747", "cat", "nan"));
  EXPECT_THAT(images.labels(0), ElementsAre(2.0f));
  EXPECT_THAT(images.labels(1), ElementsAre(1.0f));
  EXPECT_THAT(said,
              ElementsAre("x.lst: line 2 has a word as its label, so all labels are read as "
                          "class names, but some look like numbers: '16777217', '747', 'nan'"));
  EXPECT_THAT(complaint_about("0\tcat\t7\ta\n"), HasSubstr("not a number: expected a finite "
                                                           "number, found 'cat'"));
  EXPECT_THAT(complaint_about("0\t7\tcat\ta\n"), HasSubstr("found 'cat'"));
}

TEST(ImageList, a_word_behind_numbers_is_one_bad_line) {
  EXPECT_EQ(
      complaint_about("0\t9\ta\n1\t1O\tb\n2\t10\tc\n"),
      "train.lst: line 2: the label is a word, but the list's other labels are numbers: expected a "
      "finite number, found '1O'. Pass classes=... (--classes) if the labels are names.");
}

TEST(ImageList, a_line_of_several_labels_makes_a_word_one_bad_line) {
  for (const char* text : {"0\t4\t5\ta\n17\tfoo\tb\n", "17\tfoo\tb\n0\t4\t5\ta\n"}) {
    for (const auto& width : {std::optional<uint64_t>{}, std::optional<uint64_t>{2}}) {
      uint64_t bad = 0;
      const ListRules rules{.label_width = width,
                            .leave_out = [&](const CorruptError&) { return ++bad > 0; }};
      const auto images = parse_image_list(text, "x.lst", rules);
      EXPECT_EQ(bad, 1u);
      EXPECT_THAT(images.labels(0), ElementsAre(4.0f, 5.0f));
    }
  }
  const ListRules one{.label_width = 1, .leave_out = [](const CorruptError&) { return true; }};
  EXPECT_THAT(parse_image_list("0\t4\t5\ta\n1\tfoo\tb\n", "x.lst", one).classes(),
              ElementsAre("foo"));
}

TEST(ImageList, a_label_is_the_name_of_a_given_class_before_it_is_a_number) {
  const ListRules rules{.classes = {"dog", "747", "0"}};
  const auto images = parse_image_list("0\t0\ta\n1\t747\tb\n", "x.lst", rules);
  EXPECT_THAT(images.labels(0), ElementsAre(2.0f));
  EXPECT_THAT(images.labels(1), ElementsAre(1.0f));
  EXPECT_THAT(complaint_about("0\t0\ta\n1\t1\tb\n", rules),
              HasSubstr("line 2: the label is not one of the classes"));
}

TEST(ImageList, several_labels_that_are_no_class_are_listed_with_their_lines) {
  std::string text = "0\tdog\ta\n";
  for (int i = 10; i < 22; ++i) text += "1\tx" + std::to_string(i) + "\tb\n";
  const std::string said = complaint_about(text, {.classes = {"dog"}});
  EXPECT_THAT(said, HasSubstr("line 2: the label is not one of the classes: found "
                              "'x10', 'x11' in line 3, 'x12' in line 4, "));
  EXPECT_THAT(said, HasSubstr(", 'x19' in line 11 and 2 more. "));
}

TEST(ImageList, a_list_of_mxnet_has_no_words) {
  EXPECT_EQ(complaint_about("0\tcat\ta.jpg\n", {.of_mxnet = true}),
            "train.lst: line 1: the label is not a number: expected a finite number, found 'cat'");
}

// --- With a first row that names the columns ---

TEST(ImageList, a_table_has_rows_behind_the_one_that_names_its_columns) {
  const auto images = parse_image_list(
      "Label, path\r\ndog,a.jpg\r\n\r\n\"cat\", \"b, \"\"c\"\".jpg\" \r\n", "x.CSV");
  ASSERT_EQ(images.size(), 2u);
  EXPECT_EQ(images.path(1), "b, \"c\".jpg");
  EXPECT_THAT(images.classes(), ElementsAre("cat", "dog"));
  EXPECT_THAT(images.labels(0), ElementsAre(1.0f));
  EXPECT_EQ(images.id(1), 1u);
  EXPECT_EQ(images.line(1), 4u);
  const auto numbers = parse_image_list("path\tlabel\na, b.jpg\t2.5\n", "x.tsv");
  EXPECT_EQ(numbers.path(0), "a, b.jpg");
  EXPECT_THAT(numbers.labels(0), ElementsAre(2.5f));
  EXPECT_TRUE(numbers.classes().empty());
}

TEST(ImageList, a_table_without_its_columns_is_refused_with_what_it_names) {
  EXPECT_EQ(
      complaint_about("image,label\na,1\n", {}, "t.csv"),
      "t.csv: the first row has no column 'path': expected the columns 'path' and 'label', "
      "separated by commas, found 'image', 'label'. Name the columns in the list's first row.");
  EXPECT_THAT(complaint_about("path;label\na;1\n", {}, "t.csv"), HasSubstr("found 'path;label'"));
  EXPECT_THAT(complaint_about("path,label,path\n", {}, "t.csv"),
              HasSubstr("more than one column 'path'"));
  EXPECT_THAT(complaint_about("\n", {}, "t.tsv"), HasSubstr("separated by TABs, found no row"));
}

TEST(ImageList, other_columns_of_a_table_are_not_used_which_is_said) {
  std::vector<std::string> said;
  const auto images =
      parse_image_list("id,path,label,width\n7,a.jpg,1,640\n", "t.csv",
                       {.warn = [&](const std::string& text) { said.push_back(text); }});
  EXPECT_EQ(images.id(0), 0u);
  EXPECT_THAT(said, ElementsAre("t.csv: only the list's columns 'path' and 'label' are used, not "
                                "'id', 'width'"));
}

TEST(ImageList, a_row_that_cannot_be_read_is_refused_with_its_line_or_left_out) {
  const std::string text = "path,label\n\"a\nb\",1\nc,1,2\n,1\nd,\ne,1\n";
  EXPECT_EQ(complaint_about(text, {}, "t.csv"),
            "t.csv: line 4: the row has a different number of fields than the first row: expected "
            "2, found 3. Put quotation marks around each field that contains a separator.");
  std::vector<std::string> left_out;
  const auto images = parse_image_list(text, "t.csv", {.leave_out = [&](const CorruptError& error) {
                                         left_out.push_back(error.failure());
                                         return true;
                                       }});
  EXPECT_EQ(images.size(), 2u);
  EXPECT_EQ(images.id(1), 4u);  // counts unreadable rows
  EXPECT_THAT(left_out, ElementsAre(HasSubstr("line 4"), "line 5: the path is empty",
                                    "line 6: the label is empty"));
}

TEST(ImageList, a_whole_label_that_float32_would_change_is_refused) {
  EXPECT_EQ(complaint_about("0\t16777216\ta.jpg"), "");
  EXPECT_THAT(complaint_about("0\t16777217\ta.jpg"),
              HasSubstr("the label does not fit into float32"));
  EXPECT_THAT(complaint_about("0\t1e39\ta.jpg"), HasSubstr("the label does not fit into float32"));
}

TEST(ImageList, an_id_that_is_no_whole_number_is_refused_with_its_line) {
  EXPECT_THAT(complaint_about("x\t1\ta.jpg"), HasSubstr("line 1: the id is not a number"));
  EXPECT_THAT(complaint_about("-1\t1\ta.jpg"), HasSubstr("line 1: the id is not a number"));
  EXPECT_THAT(complaint_about("1.5\t1\ta.jpg"), HasSubstr("line 1: the id is not a number"));
}

TEST(ImageList, a_line_of_too_few_columns_is_refused_with_its_line) {
  EXPECT_THAT(complaint_about("0\t1\ta.jpg\n0 1 a.jpg\n"),
              HasSubstr("line 2: the line has too few columns: expected id TAB label"));
  EXPECT_THAT(complaint_about("0\ta.jpg\n"), HasSubstr("found 2 columns"));
}

TEST(ImageList, ids_that_are_there_more_than_once_are_counted) {
  EXPECT_EQ(repeated_ids(parse_image_list("2\t1\ta\n1\t1\ta\n0\t1\ta\n", "x.lst")), "");
  EXPECT_EQ(repeated_ids({}), "");
  EXPECT_EQ(repeated_ids(parse_image_list("2\t1\ta\n1\t1\tb\n2\t1\tc\n", "x.lst")),
            "1 line repeats an id of an earlier line: first line 3, id 2");
}

TEST(ImageList, an_empty_path_is_refused) {
  EXPECT_THAT(complaint_about("0\t1\t \n"), HasSubstr("line 1: the path is empty"));
}

}  // namespace
}  // namespace fuelrail
