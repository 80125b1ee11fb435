#include "fuelrail/container/files/image_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string complaint_about(const std::string& text) {
  try {
    parse_image_list(text, "train.lst");
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

TEST(ImageList, a_label_that_is_no_number_is_refused_with_its_line) {
  EXPECT_EQ(complaint_about("0\t1\ta.jpg\n\n1\tcat\tb.jpg\n"),
            "train.lst: line 3: the label is not a number: expected a finite number, found 'cat'");
  EXPECT_THAT(complaint_about("0\t1x\ta.jpg"), HasSubstr("line 1: the label is not a number"));
  EXPECT_THAT(complaint_about("0\t\ta.jpg"), HasSubstr("line 1: the label is not a number"));
  EXPECT_THAT(complaint_about("0\tnan\ta.jpg"), HasSubstr("line 1: the label is not a number"));
  EXPECT_THAT(complaint_about("0\tinf\ta.jpg"), HasSubstr("line 1: the label is not a number"));
  EXPECT_THAT(complaint_about("0\t1e999\ta.jpg"), HasSubstr("line 1: the label is not a number"));
}

TEST(ImageList, a_whole_label_that_float32_would_change_is_refused) {
  EXPECT_EQ(complaint_about("0\t16777216\ta.jpg"), "");
  EXPECT_THAT(complaint_about("0\t16777217\ta.jpg"), HasSubstr("cannot hold the label"));
  EXPECT_THAT(complaint_about("0\t1e39\ta.jpg"), HasSubstr("cannot hold the label"));
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
            "1 line has an id that an earlier line has: first line 3, id 2");
}

TEST(ImageList, an_empty_path_is_refused) {
  EXPECT_THAT(complaint_about("0\t1\t \n"), HasSubstr("line 1: the path is empty"));
}

}  // namespace
}  // namespace fuelrail
